// How soon a model is ready on a page that is opened for the first time, and what shows until then.
import { expect, test } from '@playwright/test';
import { ALONE, history, loaded, slowness, withoutModels } from './demo.ts';

test('the device shows while its models are still downloaded', async ({ page }) => {
  await withoutModels(page);
  await page.goto('/');
  await expect(page.locator('#device')).toContainText(/swiftshader/i);
  await expect(page.locator('#phase')).toHaveText(/^Opening/);
  await expect(page.locator('#lamp')).toHaveAttribute('data-state', 'busy');
});

test('a model is ready within 8 seconds of a quiet machine', ALONE, async ({ browser }) => {
  const page = await browser.newPage();
  const before = slowness();
  const began = performance.now();
  await page.goto('/', { waitUntil: 'commit' });
  await page.waitForLoadState('domcontentloaded');
  const progress = await history(page, '#stage-amount');
  await loaded(page);
  const took = performance.now() - began;
  const slow = Math.max(before, slowness());
  const description = `${(took / 1000).toFixed(1)} s, where a core is ${slow.toFixed(1)} times slower`;
  test.info().annotations.push({ type: 'target and drafter ready', description });
  console.log(`target and drafter ready: ${description}`);
  expect(took / 1000, description).toBeLessThan(8 * slow);
  expect((await progress()).flat().filter((text) => /^\d+ of \d+$/.test(text)).length).toBeGreaterThan(3);
  await page.close();
});
