// A model that does not work, however it is given to the page, ends in an error that explains it, and the page goes on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { finished, open } from './demo.ts';
import { listenForLoss } from './lost-device.ts';
import { root, WatchedServer } from './server.ts';

const bundled = (model: string, name: string): Buffer => readFileSync(join(root, 'public/models', model, name));
const draft = (name: string): Buffer => bundled('draft', name);

test('a wrong address, a truncated file and a file of another kind are explained', async ({ page }) => {
  await using server = new WatchedServer(join(root, 'public'));
  const base = await server.listen();
  await open(page, 'draft');
  const fault = page.getByRole('alert');
  await page.getByText('Your own model').click();

  await page.getByLabel(/^Address of a \.gguf/).fill(`${base}nothing/here.gguf`);
  await page.getByRole('button', { name: 'Load' }).click();
  await expect(fault).toContainText('here.gguf');
  await expect(fault).toContainText(/\.\s*\S+/); // what is wrong and what to do
  await expect(page.locator('#phase')).toHaveText('Not loaded. The current models stay loaded.');
  await expect(page.getByRole('button', { name: 'Answer' })).toBeEnabled();

  const weights = draft('model.safetensors');
  await page.locator('#files').setInputFiles([
    { name: 'config.json', mimeType: 'application/json', buffer: draft('config.json') },
    { name: 'model.safetensors', mimeType: '', buffer: weights.subarray(0, weights.length - 1000) },
  ]);
  await expect(fault).toContainText(/truncated|beyond|ends/i);
  await expect(fault).toContainText('model.safetensors');

  await page
    .locator('#files')
    .setInputFiles([{ name: 'holiday.gguf', mimeType: '', buffer: Buffer.from('not a model') }]);
  await expect(fault).toContainText('holiday.gguf');

  await page.locator('#files').setInputFiles(
    ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'].map((name) => ({
      name,
      mimeType: '',
      buffer: draft(name),
    })),
  );
  await expect(page.getByRole('button', { name: 'Answer' })).toBeEnabled();
  await expect(fault).toBeHidden();
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#answer')).not.toBeEmpty();
});

test('a drafter of the wrong kind is refused by name, and the page goes on without it', async ({ page }) => {
  await open(page, undefined, 'dflash');
  await page.getByText('Your own model').click();
  await page.getByLabel('Role', { exact: true }).selectOption('dflash');
  await page
    .locator('#files')
    .setInputFiles(
      ['config.json', 'model.safetensors'].map((name) => ({ name, mimeType: '', buffer: bundled('eagle3', name) })),
    );
  await expect(page.getByRole('alert')).toContainText('no drafter for dflash: it is one for eagle3');
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#answer .drafted').first()).toBeVisible(); // by the drafter that was loaded before
  await expect(page.getByRole('alert')).toBeHidden();
});

test('a GPU that is lost in the middle of an answer interrupts it, and the same answer goes on', async ({ page }) => {
  await listenForLoss(page);
  await open(page, 'draft');
  await page.getByRole('button', { name: 'Answer' }).click();
  await expect(page.locator('#answer')).toHaveText(/\w{3,}/);
  await page.evaluate(() => new BroadcastChannel('lose').postMessage(''));
  await expect(page.locator('#status')).toContainText('The GPU was lost.');
  await page.screenshot({ path: 'test-results/device-lost.png', animations: 'disabled' });
  await finished(page);
  const answer = await page.locator('#answer').textContent();
  expect(answer).toContain('The answer is');
  await expect(page.getByRole('alert')).toBeHidden();
  await page.screenshot({ path: 'test-results/device-recovered.png', animations: 'disabled' });
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  expect(await page.locator('#answer').textContent()).toBe(answer);
});

test('a link proposes a model and downloads nothing', async ({ page }) => {
  await using server = new WatchedServer(join(root, 'public'));
  const base = await server.listen();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(base)) asked.push(request.url());
  });
  await open(page, `${base}models/draft/`);
  await expect(page.locator('#proposed')).toHaveText('The link names this model. Press Load to download it.');
  await expect(page.getByRole('radio', { name: /^Target/ })).toBeChecked();
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Load' }).click();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
});
