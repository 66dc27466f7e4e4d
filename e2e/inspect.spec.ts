// Inspect: any round of the last run by slider, keys and playback; the source and probabilities of every token. Trees
// are in speculation.spec.ts, scores of a router in steps.spec.ts, and kernels in race.spec.ts, which have such runs.
import { expect, type Page, test } from '@playwright/test';
import { answer, history, open } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'dflash');
});

test.afterAll(() => page.close());

const tab = (name: string) => page.getByRole('tab', { name }).click();
const slider = () => page.getByRole('slider', { name: 'Round' });
const title = () => page.locator('#moment-title');
const play = () => page.locator('#play');
const rows = () => page.locator('#round-tokens tbody tr');

const percentages = async (column: number): Promise<number[]> => {
  const cells = await page.locator(`#round-tokens td:nth-of-type(${column})`).allTextContents();
  return cells.filter((text) => text !== '–').map((text) => Number(text.replace(/[^\d.]/g, '')));
};

test('before anything has run, a text says so, and the recording of the stage can be inspected', async () => {
  await tab('Inspect');
  await expect(page.locator('#inspect-empty')).toHaveText(/^Nothing has run here yet/);
  await expect(page.locator('#inspect-replay')).toHaveText(/this is a recorded run\. Its problem: Leo plants/);
  await expect(page.locator('#inspect-title')).toHaveText('DFlash: 70 tokens in 6 rounds');
  await expect(page.getByRole('button', { name: 'Run again with probabilities' })).toBeHidden();
  await tab('Race');
});

test('the keyboard goes through rounds, and each shows its drafted, accepted and rejected tokens', async () => {
  await answer(page);
  const rounds = Number(await page.locator('#rounds').textContent());
  const answered = await page.locator('#answer').textContent();
  await tab('Inspect');
  await expect(page.locator('#inspect-empty')).toBeHidden();
  await expect(page.locator('#inspect-replay')).toBeEmpty();
  // It opens on a round where the target replaced one word by another; neither is a space.
  await expect(title()).toHaveText(new RegExp(`^Round [1-9]\\d* of ${rounds}$`));
  for (const status of ['✗ rejected', '✎ corrected'])
    await expect(rows().filter({ hasText: status }).locator('th').first()).toHaveText(/[^␣↵\s]/);
  // All rows are in sight at once, from the first position on.
  const table = page.getByRole('region', { name: 'Tokens of the round' });
  expect(await table.evaluate((node) => node.scrollHeight - node.clientHeight)).toBe(0);
  expect(await table.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
  await expect(page.locator('#round-about')).toHaveText(
    /^15 drafted by DFlash, \d+ accepted, then (one corrected|a bonus)/,
  );
  await slider().press('End');
  await expect(title()).toHaveText(`Round ${rounds} of ${rounds}`);
  await slider().press('ArrowLeft');
  await expect(title()).toHaveText(`Round ${rounds - 1} of ${rounds}`);
  await slider().press('Home');
  await expect(title()).toHaveText(`Round 0 of ${rounds}`);
  await slider().press('ArrowRight');
  await expect(page.locator('#inspect-text .now')).toHaveText(/\S/);
  expect(await page.locator('#inspect-text').textContent()).toBe(answered);
  await expect(page.locator('#round-spoken')).toHaveText(/^Committed: “.*Rejected: /);
});

test('each token has its source, and its probability by drafter and target', async () => {
  const kept = rows().filter({ hasText: '✓ accepted' });
  const refused = rows().filter({ hasText: '✗ rejected' });
  expect((await kept.count()) + (await refused.count())).toBe(15);
  await expect(rows().filter({ hasText: /✎ corrected|\+ bonus/ })).toHaveCount(1);
  const struck = refused.first().locator('s');
  expect(await struck.evaluate((node) => getComputedStyle(node).textDecorationLine)).toContain('line-through');
  expect(await percentages(3)).toHaveLength(15); // the target's own token was not drafted
  expect(await percentages(4)).toHaveLength(16);
  const given = await kept.locator('td:nth-of-type(4)').allTextContents();
  expect(Math.max(...given.map((text) => Number(text.replace(/[^\d.]/g, ''))))).toBeGreaterThan(90);
  // The target finds a rejected draft less probable than its own token.
  const own = rows()
    .filter({ hasText: /✎ corrected/ })
    .locator('td:nth-of-type(4)');
  const [mine, theirs] = [
    await own.textContent(),
    await refused.first().locator('td:nth-of-type(4)').textContent(),
  ].map((text) => Number(text?.replace(/[^\d.]/g, '')));
  expect(mine).toBeGreaterThan(theirs ?? 100);
});

test('it plays from the first round to the last, and pauses', async () => {
  await slider().press('End');
  await page.getByRole('combobox', { name: 'Playback speed' }).selectOption('real time');
  const last = await title().textContent();
  const seen = await history(page, '#play', '#moment-title');
  await play().click();
  await expect.poll(async () => (await seen()).filter(([said]) => said?.includes('Pause')).length).toBeGreaterThan(2);
  await expect(play()).toHaveText(/Play/);
  await expect(title()).toHaveText(last ?? '');
  expect((await seen()).some(([said, at]) => said?.includes('Pause') && at !== last)).toBe(true);
  await page.getByRole('combobox', { name: 'Playback speed' }).selectOption('64× slower');
  await play().evaluate((button: HTMLElement) => {
    button.click();
    button.click(); // in the page: from outside it could be late
  });
  await expect(title()).toHaveText(/^Round 0 of/);
});

test('fits a narrow screen: the table head has at most a few lines, with the tokens below it', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  const head = await page.locator('#round-tokens thead').boundingBox();
  expect(head?.height).toBeLessThan(100);
});
