// An ensemble as a visitor sees it: who proposed each token, how the models voted on it, and that deciding together costs
// less than asking everybody every time without changing a token.
import { expect, type Page, test } from '@playwright/test';
import { answer, expectCalm, finished, open, ready, truth } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'cos');
  await page.getByRole('button', { name: 'Stones' }).click();
});

test.afterAll(() => page.close());

test('tokens have the colour and the letter of the model that proposed them', async () => {
  await answer(page);
  await expect(page.locator('#verdict')).toHaveText(`✓ Right: ${await truth(page)}`);
  await expect(page.locator('#legend')).toContainText('proposed by the draft model');
  const first = page.locator('#answer [data-letter=B]').first();
  expect(await first.evaluate((node) => getComputedStyle(node, '::before').content)).toContain('"B"');
  expect(await first.evaluate((node) => getComputedStyle(node).textDecorationLine)).toBe('underline');
  expect(await page.locator('#answer [data-member="0"]').count()).toBeGreaterThan(2);
  expect(await page.locator('#answer [data-member="1"]').count()).toBeGreaterThan(10);
  await page.getByRole('slider', { name: 'Round' }).press('Home');
  await expect(page.locator('#round-about')).toHaveText(/^\d+ drafted.* by the draft model.*, \d+ accepted/);
});

test('every token has a bar for all together and one for each model, by slider and under the pointer', async () => {
  const bars = page.locator('#vote-bars li');
  await expect(bars).toHaveCount(3);
  await expect(bars.nth(1)).toHaveText(/^A target\d/);
  await expect(bars.nth(2)).toHaveText(/^B draft model\d/);
  const count = await page.locator('#count').textContent();
  const slider = page.getByRole('slider', { name: 'Token' });
  await slider.press('Home');
  await expect(page.locator('#vote-title')).toHaveText(
    new RegExp(`^Token 1 of ${count}: “.+”, drawn from all together`),
  );
  await slider.press('ArrowRight');
  await expect(page.locator('#vote-title')).toHaveText(/^Token 2 of .*, proposed by [AB] \(/);
  await expect(page.locator('#answer .asked')).toHaveAttribute('data-place', '1');
  await page.locator('#answer [data-place="5"]').hover();
  await expect(page.locator('#vote-title')).toHaveText(/^Token 6 of /);
});

test('the plain ensemble says the same tokens', async () => {
  await page.getByRole('button', { name: 'Compare with the plain ensemble' }).click();
  await finished(page);
  await expect(page.locator('#comparison')).toContainText('as fast as the plain ensemble');
  await expect(page.locator('#comparison')).toContainText('✓ the same');
});

test('nothing blocks the main thread, and nothing jumps', () => expectCalm(page));

test('another model votes beside the target', async () => {
  await page.locator('main > .answer').screenshot({ path: 'test-results/page-ensemble.png', animations: 'disabled' });
  await page.getByLabel('Votes beside the target').selectOption('both');
  await ready(page);
  await answer(page);
  await expect(page.locator('#vote-bars li')).toHaveCount(4);
  await expect(page.locator('#verdict')).toHaveText(`✓ Right: ${await truth(page)}`);
});

test('fits a narrow screen', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});
