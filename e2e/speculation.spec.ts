// Speculation: drafted tokens and their sources, and the speed-up. Real runs of the bundled models, on one page. The
// fall-back where drafting does not pay is in calm.spec.ts.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { advanced, answer, finished, open, PENS, ready, traceMenu, truth } from './demo.ts';
import { root } from './server.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;
/** Requested weights, by the name of their folder. */
const downloads: string[] = [];
/** What DFlash writes. */
let text = '';

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  page.on('request', (request) =>
    downloads.push(...(/\/(\w+)\/model\.safetensors$/.exec(request.url())?.slice(1) ?? [])),
  );
  await open(page, undefined, 'dflash');
  await page.getByRole('button', { name: 'Shop' }).click();
});

test.afterAll(() => page.close());

const choose = async (title: string): Promise<void> => {
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: title });
  await ready(page);
};

const shoot = (name: string) =>
  page.screenshot({ path: `test-results/page-${name}.png`, fullPage: true, animations: 'disabled' });

test('DFlash: tokens are marked by source; rejected drafts are struck through and no part of the answer', async () => {
  await answer(page);
  const box = page.locator('#answer');
  await expect(page.locator('#verdict')).toHaveText(`✓ Correct: ${await truth(page)}`);
  expect(await box.locator('.drafted').count()).toBeGreaterThan(10);
  expect(await box.locator('.corrected, .bonus').count()).toBeGreaterThan(0);
  expect(Number(await page.locator('#tau').textContent())).toBeGreaterThan(2);
  await expect(page.locator('#acceptance')).toHaveText(/^\d+ %$/);
  await expect(box).toHaveText(new RegExp(`The answer is ${await truth(page)}\\.$`));
  const struck = box.locator('s').first();
  await expect(struck).toHaveAttribute('data-rejected', /\S/);
  await expect(struck).toBeVisible();
  const named = page.locator('#legend').getByRole('button', { name: 'draft, rejected' });
  expect(await named.evaluate((node) => getComputedStyle(node).textDecorationLine)).toBe('line-through'); // as there
  await page.getByLabel('Show rejected drafts').uncheck();
  await expect(struck).toBeHidden();
  await page.getByLabel('Show rejected drafts').check();
});

test('a drafter of the wrong kind is refused by name, and the page goes on without it', async () => {
  await page.getByText('Your own model').click();
  await page.getByLabel('Role', { exact: true }).selectOption('dflash');
  await page
    .locator('#files')
    .setInputFiles(['config.json', 'model.safetensors'].map((name) => join(root, 'public/models/eagle3', name)));
  const fault = page.getByRole('alert');
  await expect(fault).toContainText('no drafter for dflash: it is one for eagle3');
  await answer(page);
  await expect(page.locator('#answer .drafted').first()).toBeVisible(); // by the drafter that was loaded before
  await expect(fault).toBeHidden();
  await page.getByText('Your own model').click();
});

test('the keyboard moves a slider, and the next answer uses its value', async () => {
  const slider = page.getByRole('slider', { name: 'Block size' });
  await slider.press('Home');
  for (let size = 1; size < 8; size++) await slider.press('ArrowRight');
  await expect(page.locator('.knob', { has: slider }).locator('output')).toHaveText('8');
  await answer(page);
  await page.getByLabel('Show rejected drafts').uncheck();
  text = await page.locator('#answer').innerText();
  await page.getByLabel('Show rejected drafts').check();
  await shoot('dflash');
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('#round-about')).toHaveText(/^7 drafted by DFlash/);
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('all systems run on one problem, each model loaded once; exact ones give plain decoding’s tokens', async () => {
  await page.getByLabel('Problem for the model').fill(PENS);
  const speculative = await page.locator('optgroup[label="Speculative decoding"] option:enabled').allTextContents();
  expect(speculative.length).toBeGreaterThan(4);
  downloads.length = 0;
  await page.getByRole('button', { name: 'Run all' }).click();
  await expect(page.locator('#all-about')).toContainText('systems have run', { timeout: 500_000 });
  await expect(page.locator('.all-system:disabled')).toHaveCount(0);
  const row = (title: string) => page.locator('.all-system').filter({ has: page.getByText(title, { exact: true }) });
  const passes = async (title: string): Promise<number> => Number(await row(title).locator('b').textContent());
  const alone = await passes('Plain decoding');
  for (const title of speculative) {
    await expect(row(title)).toContainText(`✓ ${await truth(page)} · same tokens`);
    expect(await passes(title), title).toBeLessThan(alone);
  }
  expect(downloads).toContain('eagle3');
  const models = downloads.filter((name) => !['prm', 'router'].includes(name)); // a judge's file is opened, then read
  expect(models.toSorted()).toEqual([...new Set(models)].toSorted()); // the others stayed loaded
  await expect(page.getByRole('combobox', { name: 'Decoding', exact: true })).toHaveValue('dflash');
  await row('DFlash').click();
  await page.getByRole('slider', { name: 'Position in the recording' }).press('End');
  await expect(page.locator('.scene.current .stage-end')).toContainText(
    new RegExp(
      `${await passes('DFlash')} passes of the large model instead of ${alone}, plus \\d+ of the drafter, word for word`,
    ),
  );
  await expect(page.locator('#stage-about')).toContainText('run on this machine');
  await expect(page.locator('.scene.current .stage-problem')).toHaveText(await page.locator('#problem').inputValue());
  await shoot('all-systems');
  await page.getByRole('button', { name: 'Shop' }).click();
});

test('EAGLE-3: trees change no token, and in Inspect a round is a tree', async () => {
  await choose('EAGLE-3');
  await page.getByLabel('Shape of a draft').selectOption('tree');
  const nodes = page.getByRole('slider', { name: 'Nodes' });
  expect(Number(await nodes.inputValue())).toBeGreaterThanOrEqual(15); // 16 with the anchor
  while ((await nodes.inputValue()) !== '20') await nodes.press('ArrowRight');
  await advanced(page);
  const depth = page.getByRole('slider', { name: 'Depth' });
  await depth.press('Home');
  await expect(depth).toHaveAttribute('aria-valuetext', 'as many as pay');
  while ((await depth.inputValue()) !== '7') await depth.press('ArrowRight');
  await page.getByLabel('Plain decoding where drafting loses time').selectOption('off'); // SwiftShader may fall back
  await answer(page);
  await expect(page.locator('#verdict')).toHaveText(`✓ Correct: ${await truth(page)}`);
  await page.getByLabel('Show rejected drafts').uncheck();
  expect(await page.locator('#answer').innerText()).toBe(text);
  await page.getByLabel('Show rejected drafts').check();
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('#round-about')).toContainText('drafted by EAGLE-3 in a tree');
  expect(await page.locator('#round-tree .branch').count()).toBeGreaterThan(0);
  await expect(page.locator('#round-tree .anchor')).toHaveCount(1);
  const places = await page.locator('#round-tokens td:nth-of-type(1)').allTextContents();
  expect(new Set(places).size).toBeLessThan(places.length); // several drafts for one position
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('a document that the answer quotes is drafted from, and a link to the run holds it', async () => {
  await choose('Suffix decoding');
  await advanced(page);
  await page.getByLabel('Plain decoding where drafting loses time').selectOption('off');
  const field = page.getByLabel('Document that answers may quote');
  const problems: { question: string; answer: string }[] = await (await page.request.get('/problems.json')).json();
  // Two of a kind: look-ups also draft from the answers that this page has seen.
  const [other, quoted] = problems.filter(({ question }) => /plants \d+ trees/.test(question)).slice(-2);
  const passesOfTen = async (question = '', document = ''): Promise<number> => {
    await page.getByLabel('Problem for the model').fill(question);
    await field.fill(document);
    await answer(page);
    const [passes, tokens] = await page.locator('#passes, #count').allTextContents();
    return (10 * Number(passes)) / Number(tokens);
  };
  const without = await passesOfTen(other?.question);
  expect(await passesOfTen(quoted?.question, quoted?.answer)).toBeLessThan(without / 2);
  await traceMenu(page);
  await page.locator('#trace-share').click();
  await expect(page.locator('#trace-about')).toContainText('link that holds the whole run');
  await field.fill('');
  const link = await page.evaluate(() => location.hash);
  await page.evaluate((hash) => {
    location.hash = '';
    location.hash = hash;
  }, link);
  await finished(page);
  await expect(field).toHaveValue(`${quoted?.answer}`);
  await choose('DFlash');
  await expect(field).toBeHidden();
});

test('fits a narrow screen, in the dark too', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: /light and dark/ }).click();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await shoot('speculation-narrow');
});
