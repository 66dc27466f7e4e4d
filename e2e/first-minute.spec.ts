// The first minute of a visitor: one button to press, explanations where a question arises, every token explained, and
// nothing that moves or takes the focus away. The page waits for its models until a test needs them.
import { expect, type Page, test } from '@playwright/test';
import { advanced, finished, loaded, PENS } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;
const fetched: string[] = [];

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  page.on('request', (request) => void (/\/models\//.test(request.url()) && fetched.push(request.url())));
  await page.goto('/');
  await loaded(page);
});
test.afterAll(() => page.close());

test('one button is the primary one; sampling, traces and all knobs but one are a click deeper', async () => {
  await expect(page.locator(':is(.stage, #race, .race-more) button.primary:visible')).toHaveCount(1);
  for (const name of ['Open trace', 'Save', 'Share']) await expect(page.getByRole('button', { name })).toBeHidden();
  for (const label of ['Temperature', 'Plain decoding where drafting loses time'])
    await expect(page.getByLabel(label, { exact: true })).toBeHidden();
  await expect(page.locator('#knobs > .knob')).toHaveText([/^Block size/]);
  await expect(page.locator('#advanced')).toContainText('Drafts at temperature > 0');
  await expect(page.locator('#advanced #offers')).toContainText('Your own DSpark drafter');
});

test('another system moves nothing', async () => {
  const places = () =>
    page.evaluate(() =>
      ['models-title', 'ask-title', 'answer-title'].map((id) => document.getElementById(id)?.getBoundingClientRect().y),
    );
  const before = await places();
  for (const label of ['Plain decoding', 'Prompt lookup', 'DFlash']) {
    await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label });
    await loaded(page);
    expect(await places(), label).toEqual(before);
  }
});

test('every readout is explained, by keyboard and pointer, within the window of a phone', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const terms = page.locator('.readouts .term');
  expect(await terms.count()).toBe(await page.locator('.readouts dd').count());
  const hint = page.getByRole('tooltip');
  for (const term of await terms.all()) {
    await term.focus();
    await page.keyboard.press('Shift'); // the last input is a key, so that the focus is visible
    await term.press('Enter');
    await expect(hint).toBeVisible();
    await expect(term).toHaveAccessibleDescription((await hint.textContent()) ?? '-');
    const [box, at] = [await hint.boundingBox(), await term.boundingBox()];
    expect(box && box.x >= 0 && box.x + box.width <= 360 && box.y >= 0 && box.y + box.height <= 740).toBe(true);
    expect(box && at && (box.y >= at.y + at.height || box.y + box.height <= at.y)).toBe(true); // it does not cover its word
  }
  await page.keyboard.press('Escape');
  await expect(hint).toBeHidden();
  await page.setViewportSize({ width: 1440, height: 900 });
  await terms.first().hover();
  await expect(hint).toBeVisible();
  await page.keyboard.press('Escape'); // whatever has the focus
  await expect(hint).toBeHidden();
  await terms.nth(1).hover();
  await expect(hint).toBeVisible();
  await page.mouse.move(0, 0);
  await expect(hint).toBeHidden();
});

test('on a phone the answer is under the problem, Race scrolls to it, and the focus stays on the button', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const [ask, answer] = [await page.locator('.ask').boundingBox(), await page.locator('.answer').boundingBox()];
  expect((answer?.y ?? 0) - (ask?.y ?? 0) - (ask?.height ?? 0)).toBeLessThan(48);
  await advanced(page);
  await page.getByLabel('Plain decoding where drafting loses time').selectOption('off'); // SwiftShader may fall back
  await page.getByLabel('Problem for the model').fill(PENS);
  const race = page.getByRole('button', { name: 'Race', exact: true });
  await race.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('#answer-title')).toBeInViewport();
  await expect(page.locator('#finish-about')).toContainText('✓ The same', { timeout: 240_000 });
  await finished(page);
  await expect(race).toBeFocused();
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('any token tells its source, its probabilities and alternatives, by arrow key and by pointer', async () => {
  const hint = page.getByRole('tooltip');
  const spoken = page.locator('#token-spoken');
  await page.locator('#answer').focus();
  await page.keyboard.press('Home');
  await expect(hint).toContainText(/Written by the target, without a draft.*target \d/s);
  await page.keyboard.press('ArrowRight');
  await expect(hint).toContainText(
    /Drafted, and accepted.*Probability: target [\d.]+ %, draft [\d.]+ %.*Alternatives: (“.*”.*){3}/s,
  );
  await expect(spoken).toContainText('Drafted, and accepted');
  await page.keyboard.press('Escape');
  await expect(hint).toBeHidden();
  await page.locator('#answer .corrected').first().dispatchEvent('pointerover'); // a space may be too narrow to hover
  await expect(hint).toContainText(/Corrected.*Rejected here: “.*”, draft/s);
  await page.locator('#plain-answer').focus();
  await page.keyboard.press('End');
  await expect(hint).toContainText(/without a draft.*target \d/s);
  await page.screenshot({ path: 'test-results/page-token.png', animations: 'disabled' });
});

test('the inspector opens where the target first disagreed, with its probabilities', async () => {
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('#round-tokens .status.rejected').first()).toBeVisible();
  await expect(page.locator('#round-tokens .probability').first()).toBeVisible();
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('the element next to its two lines is live, and no model is fetched for it', async () => {
  const before = fetched.length;
  await page.locator('.embed').scrollIntoViewIfNeeded();
  const widget = page.locator('outrider-chat');
  await expect(widget).toBeVisible();
  await expect(widget.getByText('Recorded', { exact: true })).toBeVisible();
  await expect(page.locator('#embed-lines')).toHaveText(/<script .*<\/script>\s+<outrider-chat><\/outrider-chat>/s);
  await widget.getByRole('button', { name: 'Play' }).click();
  await expect(widget).toContainText('The answer is 52.');
  expect(fetched.length).toBe(before);
  await page.getByRole('button', { name: 'Ask it yourself' }).click();
  await expect(widget.getByRole('textbox', { name: 'Message' })).toBeFocused();
  await expect(widget.getByText('Live', { exact: true })).toBeVisible();
  await expect(widget.getByRole('button', { name: 'Send' })).toBeVisible();
});

test('a question beyond the bundled models gets a sentence, and a general model with size and licence', async () => {
  await page.getByLabel('Problem for the model').fill('Who wrote Faust?');
  await expect(page.locator('#truth')).toContainText('They solve word problems like the examples, and nothing else.');
  await expect(page.getByRole('button', { name: /^Download SmolLM2.*\d MB, Apache/ })).toBeVisible();
  await page.getByLabel('Problem for the model').fill(' ');
  for (const name of ['Answer', 'Race']) await expect(page.getByRole('button', { name, exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Trees' }).click();
  await expect(page.getByRole('button', { name: /^Download SmolLM2/ })).toBeHidden();
  await expect(page.getByRole('button', { name: 'Answer', exact: true })).toBeEnabled();
});

test('a wrong link and a part of the page that cannot be fetched are told, and the part comes once it can be', async ({
  browser,
}) => {
  const other = await browser.newPage();
  await other.route('**/models/**', () => {}); // it needs none
  await other.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', { value: null }); // as where a browser keeps nothing for the site
  });
  await other.goto('/?model=foo&system=bar');
  await expect(other.locator('#bundled')).toContainText('The link names the model “foo”, which is none of these.');
  await expect(other.getByRole('radio', { name: /^Target/ })).toBeChecked();
  await expect(other.locator('#about')).toContainText('The link names the system “bar”, which is none of these.');
  const fault = other.getByRole('alert');
  const parts = [
    [other.getByRole('button', { name: 'Ask it yourself' }), other.locator('outrider-chat')],
    [other.getByRole('tab', { name: 'Inspect' }), other.locator('#inspect-title')],
    [other.getByRole('tab', { name: 'Chat' }), other.getByRole('region', { name: 'The loaded model' })],
    [other.getByRole('tab', { name: 'Structured' }), other.getByRole('textbox', { name: 'Prompt', exact: true })],
    [other.getByRole('button', { name: 'Tour' }), other.getByRole('dialog')],
  ] as const;
  await other.context().setOffline(true);
  for (const [button] of parts) {
    await other.locator('#fault').evaluate((node: HTMLElement) => {
      node.hidden = true;
    });
    await button.click();
    await expect(fault).toHaveText(/^\s*This part of the page could not be fetched\.\s*Check the connection/);
  }
  await other.context().setOffline(false);
  await other.getByRole('tab', { name: 'Race' }).click();
  for (const [button, part] of parts) {
    await button.click();
    await expect(part).toBeVisible();
    await expect(fault).toBeHidden();
  }
  await expect(other.locator('#chat-kept')).toHaveText('The chat is kept until this page is closed.');
  await other.close();
});
