// Without WebGPU the page explains what is missing and replays a recording.
import { chromium, expect, test } from '@playwright/test';
import { stopOnceWritten } from './demo.ts';

test('explains how to get WebGPU and replays a recorded run', async ({ baseURL, launchOptions }) => {
  // The browser of the other tests, without the flags for a software adapter.
  const args = (launchOptions.args ?? []).filter((flag) => !/webgpu/.test(flag));
  const browser = await chromium.launch({ ...launchOptions, args: [...args, '--disable-features=WebGPUService'] });
  const page = await browser.newPage();
  await page.goto(baseURL ?? '');
  await expect(page.getByRole('heading', { name: /No usable WebGPU/ })).toBeVisible();
  await expect(page.locator('#no-webgpu')).toContainText('--use-webgpu-adapter=swiftshader');
  await expect(page.locator('#device')).toContainText('Recorded on');
  await expect(page.locator('#examples button')).toHaveText([
    'DFlash',
    'EAGLE-3',
    'BlockPilot',
    'RSD',
    'Arbitrage',
    'CoS',
  ]);
  await expect(page.locator('#go')).toHaveText('Replay');
  await expect(page.locator('#offers')).toBeHidden(); // no model can be loaded
  await expect(page.locator('#verdict')).toHaveText(/^✓ Correct/);
  expect(await page.locator('#answer .drafted').count()).toBeGreaterThan(10);
  await expect(page.locator('#finish-about')).toContainText('✓ The same');
  await page.getByRole('tab', { name: 'EAGLE-3' }).click();
  await expect(page.getByRole('tab', { name: 'EAGLE-3' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByLabel('Problem for the model')).toHaveValue(/^Ida has 21 shells/);
  await expect(page.locator('#answer')).toContainText('The answer is 25.');
  await expect(page.locator('#finish-about')).toContainText('✓ The same');
  const whole = (await page.locator('#plain-answer').textContent()) ?? '';
  await stopOnceWritten(page, () => page.getByRole('button', { name: 'Replay', exact: true }).click(), '#count');
  await expect(page.locator('#go')).toHaveText('Replay');
  expect(((await page.locator('#answer').textContent()) ?? '').length).toBeLessThan(whole.length);
  await page.getByRole('tab', { name: 'Chat' }).click();
  await expect(page.getByRole('button', { name: 'Send' })).toBeDisabled(); // no model is loaded
  await expect(page.locator('#chat')).toContainText('Chat needs WebGPU');
  await page.screenshot({ path: 'test-results/page-no-webgpu.png', fullPage: true, animations: 'disabled' });
  await page.goto(`${baseURL}benchmark.html`);
  await expect(page.locator('#fault')).toContainText('WebGPU');
  await expect(page.getByRole('button', { name: /^Quick/ })).toBeDisabled();
  await browser.close();
});
