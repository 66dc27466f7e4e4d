// A run never disturbs the page: no long task, enough frames, no layout shift, for several kinds of run on one load. And
// drafting that loses time, which takes a machine to itself to tell.
import { expect, type Page, test } from '@playwright/test';
import { ALONE, answer, expectCalm, open, ready } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'dflash');
});

test.afterAll(() => page.close());

/** The draft model gets a subtraction of this problem wrong, so steps are escalated. */
const BEADS =
  'Tom has 21 beads. Hugo gets 6 more beads than Tom. Max gets 18 fewer beads than Hugo. How many beads does Max have?';
const TREES =
  'Leo plants 5 trees every day for 5 days. Then Leo plants 3 trees every day for 9 days. How many trees is that in all?';

for (const [system, problem] of [
  ['DFlash', TREES],
  ['Plain decoding', TREES],
  ['Arbitrage', BEADS],
  ['CoS', TREES],
] as const)
  test(`${system}: nothing blocks the main thread, and nothing moves`, ALONE, async () => {
    await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: system });
    await ready(page);
    await page.getByLabel('Problem for the model').fill(problem);
    await answer(page); // one lane, and warm models
    await expectCalm(page);
  });

test('a chat: nothing blocks the main thread, and nothing moves', ALONE, async () => {
  await page.getByRole('tab', { name: 'Chat' }).click();
  const type = () => page.getByRole('textbox', { name: 'Message' }).fill(TREES);
  await type();
  await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled();
  await expectCalm(page, '#chat-send', type);
});

test('where drafting does not pay the run falls back to plain decoding, and the page says so', ALONE, async () => {
  await page.getByRole('tab', { name: 'Race' }).click();
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: 'Draft model' });
  await ready(page);
  await page.getByRole('slider', { name: 'γ' }).press('End');
  await expect(page.locator('#examples button')).toHaveText(['Trees', 'Shop', 'Guessing fails']);
  await page.getByRole('button', { name: 'Guessing fails' }).click();
  await expect(page.locator('#truth')).toContainText('Most of their guesses are rejected here');
  await answer(page);
  await expect(page.locator('#drafting')).toHaveText(
    /^Drafting cost more time than it saved .*: plain decoding from token \d+/,
  );
  expect(await page.locator('#answer .sampled').count()).toBeGreaterThan(10);
  await page.screenshot({ path: 'test-results/page-fall-back.png', fullPage: true, animations: 'disabled' });
});
