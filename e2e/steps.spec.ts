// Step routers: a card for every step of a real run with the decision and its reason, and what another threshold would
// have decided. Two routers on one page, so that their models are loaded once.
import { expect, type Page, test } from '@playwright/test';
import { advanced, answer, open, ready, truth } from './demo.ts';

test.describe.configure({ mode: 'serial' });

/** The draft model gets a subtraction of this problem wrong. */
const PROBLEM =
  'Tom has 21 beads. Hugo gets 6 more beads than Tom. Max gets 18 fewer beads than Hugo. How many beads does Max have?';

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'rsd');
  await page.getByLabel('Problem for the model').fill(PROBLEM);
});

test.afterAll(() => page.close());

const cards = () => page.locator('#step-list .step');
const escalated = () => page.locator('#step-list .step.escalated');

const expectCards = async (judge: string): Promise<void> => {
  await expect(page.locator('#verdict')).toHaveText(`✓ Correct: ${await truth(page)}`);
  await expect(cards().last()).toContainText(`The answer is ${await truth(page)}.`);
  await expect(page.locator('#steps-about')).toHaveText(
    new RegExp(
      `^${await cards().count()} steps, ${await escalated().count()} escalated to the target; [1-9]\\d* target tokens saved$`,
    ),
  );
  await expect(page.locator('.step.accepted').first()).toContainText(/Step 1 ✓ accepted.*target tokens saved/);
  const first = escalated().first();
  await expect(first).toContainText('↑ escalated');
  const struck = first.locator('s.draft-step');
  expect(await struck.evaluate((node) => getComputedStyle(node).textDecorationLine)).toContain('line-through');
  expect(await first.locator('.target-step').textContent()).not.toBe(await struck.textContent());
  await expect(first).toContainText(new RegExp(`judged in \\d.*${judge} \\d\\.\\d\\d, threshold \\d\\.\\d\\d: `));
  await expect(page.locator('#step-list .score-scale')).toHaveCount(await cards().count());
};

test('RSD: every step is a card, and a rejected draft is struck through', async () => {
  await answer(page);
  await expectCards('Reward');
});

test('another threshold is tried on the same scores, by keyboard', async () => {
  const slider = page.getByRole('slider', { name: 'Try another threshold' });
  const said = page.locator('#what-if-about');
  const all = await cards().count();
  await expect(said).toHaveText(
    new RegExp(
      `^Threshold 0\\.\\d\\d: ${await escalated().count()} of ${all} escalated, every decision stays the same\\.$`,
    ),
  );
  await slider.press('Home');
  await expect(said).toHaveText(
    new RegExp(`^Threshold 0\\.00: 0 of ${all} escalated, steps? \\d.* decided differently`),
  );
  await expect(page.locator('.step.changed')).toHaveCount(await escalated().count());
  await slider.press('End');
  await expect(said).toHaveText(new RegExp(`^Threshold 1\\.00: [${all - 1}${all}] of ${all} escalated`));
});

test('in Inspect a chart of scores against the threshold, with a table for screen readers', async () => {
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('.scores canvas')).toBeVisible();
  await expect(page.locator('.scores caption')).toHaveText(/^Reward of each step against the threshold \d\.\d\d$/);
  await expect(page.locator('.scores table')).toContainText('escalated');
  await page.getByRole('slider', { name: 'Round' }).press('End');
  await expect(page.locator('#scores-about')).toHaveText(/^Step \d: \d\.\d\d, accepted/);
  const percentages = async (column: number): Promise<number> =>
    page.locator(`#round-tokens td:nth-of-type(${column})`).filter({ hasNotText: /^–$/ }).count();
  expect(await percentages(4)).toBe(0); // the step is the draft's, and so are its probabilities
  expect(await percentages(3)).toBeGreaterThan(3);
  await page.screenshot({ path: 'test-results/page-inspect-steps.png', fullPage: true, animations: 'disabled' });
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('RSD with the layer on the draft as judge: the same cards', async () => {
  const judge = page.getByRole('combobox', { name: 'Judge of the draft’s steps' });
  await expect(judge).toHaveValue('prm');
  await Promise.all([
    page.waitForRequest(/models\/draft-judge\/model\.safetensors/),
    judge.selectOption({ label: 'layer on top of the draft' }),
  ]);
  await ready(page);
  await answer(page);
  await expectCards('Reward');
});

test('Arbitrage: the same, with the advantage of the target as score', async () => {
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: 'Arbitrage' });
  await ready(page);
  await expect(page.getByLabel('Judge of the draft’s steps')).toBeHidden();
  await answer(page);
  await expectCards('Advantage');
  const slider = page.getByRole('slider', { name: 'Try another threshold' });
  await slider.press('End');
  await expect(page.locator('#what-if-about')).toHaveText(/^Threshold 1\.00: 0 of \d/);
});

test('SpecGuard: both signals of each step, and the candidates with the one that was judged', async () => {
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: 'SpecGuard' });
  await ready(page);
  await advanced(page);
  for (const [knob, value] of [
    ['k', '3'],
    ['beta', '0.5'],
    ['temperature', '1'],
    ['top-p', '1'],
  ] as const)
    await page.locator(`#knob-${knob}`).fill(value);
  await answer(page);
  const judged = cards().filter({ hasText: 'threshold' });
  await expect(judged.first()).toContainText(/Least log-probability -\d+\.\d\d, least grounding 0\.\d\d/);
  const candidates = judged.first().locator('details');
  await candidates.getByText('3 candidates').click();
  await expect(candidates.getByRole('listitem')).toHaveCount(3);
  await expect(candidates.getByRole('listitem').filter({ hasText: 'judged: ' })).toHaveCount(1);
});

test('fits a narrow screen', async () => {
  await page.locator('#race .card.answer').screenshot({ path: 'test-results/page-steps.png', animations: 'disabled' });
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});
