// An ensemble: which model proposed each token, how the models voted on it, and that speculation changes no token of
// the plain ensemble.
import { expect, type Page, test } from '@playwright/test';
import { answer, finished, open, truth } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'cos');
  await page
    .getByRole('textbox', { name: 'Problem for the model' })
    .fill(
      'Ida has 54 stones. Ida finds 30 more stones. Ida shares all stones equally among 7 friends. ' +
        'How many stones does each friend get?',
    );
});

test.afterAll(() => page.close());

test('tokens have the colour and letter of the model that proposed them', async () => {
  await answer(page);
  await expect(page.locator('#verdict')).toHaveText(`✓ Correct: ${await truth(page)}`);
  await expect(page.locator('#legend')).toContainText('proposed by the draft model');
  const first = page.locator('#answer [data-letter=B]').first();
  expect(await first.evaluate((node) => getComputedStyle(node, '::before').content)).toContain('"B"');
  expect(await first.evaluate((node) => getComputedStyle(node).textDecorationLine)).toBe('underline');
  expect(await page.locator('#answer [data-member="0"]').count()).toBeGreaterThan(2);
  expect(await page.locator('#answer [data-member="1"]').count()).toBeGreaterThan(10);
});

test('in Inspect every token of a round has a bar for the combined distribution and one for each model', async () => {
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await page.getByRole('slider', { name: 'Round' }).press('ArrowRight');
  await expect(page.locator('#round-about')).toHaveText(/^\d+ drafted.* by the draft model.*, \d+ accepted/);
  const votes = page.locator('.vote');
  await expect(votes).toHaveCount(await page.locator('#inspect-text .now > span').count());
  await expect(votes.first()).toHaveText(/^Token \d+: “.+”, proposed by [AB] \(/);
  const bars = votes.first().locator('.vote-bars li');
  await expect(bars).toHaveCount(3);
  await expect(bars.nth(1)).toHaveText(/^A target\d/);
  await expect(bars.nth(2)).toHaveText(/^B draft model\d/);
  await page.getByRole('slider', { name: 'Round' }).press('Home');
  await expect(votes).toHaveText(/^Token 1: “.+”, drawn from the combined distribution/);
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('the stage’s vote is raced with the three models of its recording; the plain ensemble gives the same tokens', async () => {
  await page.getByRole('radio', { name: 'let models vote' }).check({ force: true });
  await page.getByRole('button', { name: 'Race on this machine' }).click();
  const about = page.locator('#finish-about');
  await expect(about).toContainText(/as fast as the plain ensemble here/, { timeout: 240_000 });
  await finished(page);
  await expect(about).toContainText('✓ The same');
  await expect(page.locator('#finish-factor')).toHaveText(/^\d+\.\d\d×$/);
  await expect(page.locator('#finish-passes')).toHaveText(/^\d+ passes of all models instead of \d+\.$/);
  await expect(page.getByLabel('Models that vote with the target')).toHaveValue('both');
  await page
    .locator('#race .card.answer')
    .screenshot({ path: 'test-results/page-ensemble.png', animations: 'disabled' });
  await expect(page.locator('#legend')).toContainText('proposed by the mid model');
  await expect(page.locator('#legend')).toContainText('proposed by the draft model');
  await expect(page.locator('#verdict')).toHaveText(`✓ Correct: ${await truth(page)}`);
});

test('fits a narrow screen', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});
