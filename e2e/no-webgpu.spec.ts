// Without WebGPU the page explains what is missing and replays a recording.
import { expect, test } from '@playwright/test';
import { withoutWebGpu } from './browser.ts';
import { stopOnceWritten } from './demo.ts';

test('explains how to get WebGPU and replays a recorded run', async ({ baseURL }) => {
  const browser = await withoutWebGpu();
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
  // Of two recordings that are chosen while another is fetched, the last one plays.
  let serve = (): void => {};
  const served = new Promise<void>((resolve) => {
    serve = resolve;
  });
  await page.route('**/traces/*.jsonl', async (route) => {
    await served;
    await route.continue();
  });
  for (const name of ['BlockPilot', 'RSD', 'CoS']) await page.getByRole('tab', { name }).click();
  serve();
  const last = page.getByRole('tab', { name: 'CoS' });
  await expect(last).toHaveAttribute('aria-selected', 'true');
  // The published models can be looked at; why none can be loaded is said once more, and the recording stays.
  await page.getByText('Published models').click();
  await expect(page.locator('#published')).toContainText('This browser does not say how much memory there is');
  await page.locator('.catalogue summary').first().click();
  await page
    .locator('.catalogue')
    .getByRole('button', { name: /^Download/ })
    .first()
    .click();
  await expect(page.locator('#fault')).toContainText('WebGPU');
  await expect(last).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Chat' }).click();
  await expect(page.getByRole('button', { name: 'Send' })).toBeDisabled(); // no model is loaded
  await expect(page.locator('#chat')).toContainText('Chat needs WebGPU');
  await page.screenshot({ path: 'test-results/page-no-webgpu.png', fullPage: true, animations: 'disabled' });
  await page.goto(`${baseURL}benchmark.html`);
  await expect(page.locator('#fault')).toContainText('WebGPU');
  await expect(page.getByRole('button', { name: /^Quick/ })).toBeDisabled();
  await browser.close();
});
