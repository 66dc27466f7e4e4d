// Without WebGPU the page explains itself and replays a recording, so it is never empty.
import { chromium, expect, test } from '@playwright/test';
import { finished } from './demo.ts';

test('explains how to get WebGPU and replays a recorded run', async ({ baseURL, launchOptions }) => {
  // The browser of the other tests, without the flags that give it a software adapter.
  const args = (launchOptions.args ?? []).filter((flag) => !/webgpu/.test(flag));
  const browser = await chromium.launch({ ...launchOptions, args: [...args, '--disable-features=WebGPUService'] });
  const page = await browser.newPage();
  await page.goto(baseURL ?? '');
  await expect(page.getByRole('heading', { name: /no WebGPU/ })).toBeVisible();
  await expect(page.locator('#no-webgpu')).toContainText('--use-webgpu-adapter=swiftshader');
  await expect(page.locator('#device')).toContainText('Recorded on');
  await finished(page);
  await expect(page.locator('#verdict')).toHaveText(/^✓ Right/);
  expect(await page.locator('#answer .drafted').count()).toBeGreaterThan(10);
  await page.getByRole('button', { name: 'Compare with plain decoding' }).click();
  await expect(page.locator('#comparison')).toContainText('✓ the same');
  await page.getByRole('button', { name: 'Replay' }).click();
  await expect(page.locator('#count')).toHaveText(/^[1-9]/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('#verdict')).toHaveText('The answer was stopped');
  await page.screenshot({ path: 'test-results/page-no-webgpu.png', fullPage: true, animations: 'disabled' });
  await browser.close();
});
