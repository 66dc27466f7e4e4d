// What does not work, a model above all, ends in an error that explains it, and the page goes on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { finished, loaded, open, ready } from './demo.ts';
import { listenForLoss, patchWorker } from './lost-device.mjs';
import { paced } from './paced.ts';
import { root, WatchedServer } from './server.ts';

const draft = (name: string): Buffer => readFileSync(join(root, 'public/models/draft', name));

test('a link proposes a model and downloads nothing; missing examples, a wrong address, a truncated file and another kind are explained', async ({
  page,
}) => {
  await using server = new WatchedServer(join(root, 'public'));
  const base = await server.listen();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(base)) asked.push(request.url());
  });
  await page.route('**/problems.json', (route) => route.fulfill({ status: 503 }));
  await page.goto(`/?${new URLSearchParams({ model: `${base}models/draft/`, system: 'autoregressive' })}`);
  await loaded(page);
  await expect(page.locator('#truth')).toHaveText(
    'The example problems could not be loaded: the server answered 503. Write your own, or reload the page.',
  );
  await page.locator('#problem').fill('Eva has 3 cups. Eva buys 4 more cups. How many cups does Eva have now?');
  await expect(page.locator('#proposed')).toHaveText('The link names this model. Press Load to download it.');
  await expect(page.getByRole('radio', { name: /^Target/ })).toBeChecked();
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Load' }).click();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await expect(page.locator('#phase')).toContainText('Ready: ');
  await ready(page);
  const fault = page.getByRole('alert');

  await page.getByLabel(/^Address of a \.gguf/).fill(`${base}nothing/here.gguf`);
  await page.getByRole('button', { name: 'Load' }).click();
  await expect(page.locator('#by-address').getByRole('alert')).toContainText('here.gguf');
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
  await expect(page.locator('#phase')).toContainText('Ready: '); // a run that begins before is ended by the load
  await expect(fault).toBeHidden();
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#answer')).toContainText('The answer is');
});

test('a GPU that is lost in the middle of an answer interrupts it, and the same answer goes on', async ({ page }) => {
  await paced(page);
  await listenForLoss(page);
  await open(page, 'draft');
  // In the page, because a message from here could be late.
  await page.evaluate(() => {
    const lose = new BroadcastChannel('lose');
    const observer = new MutationObserver(() => {
      if (!/\w{3,}/.test(document.querySelector('#answer')?.textContent ?? '')) return;
      observer.disconnect();
      lose.postMessage('');
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole('button', { name: 'Answer' }).click();
  const about = page.locator('#drafting');
  await expect(about).toContainText('The GPU was lost.');
  await page.screenshot({ path: 'test-results/device-lost.png', animations: 'disabled' });
  await finished(page);
  const answer = await page.locator('#answer').textContent();
  expect(answer).toContain('The answer is');
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(about).toHaveText(/The models were loaded again in [\d.]+ s, and the answer goes on\.$/);
  await page.screenshot({ path: 'test-results/device-recovered.png', animations: 'disabled', fullPage: true });
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  expect(await page.locator('#answer').textContent()).toBe(answer);
});

test('a chat keeps an answer that lost its GPU twice, and continues it once the model is loaded', async ({ page }) => {
  await paced(page);
  await listenForLoss(page);
  await page.goto('/?system=autoregressive#chat');
  await loaded(page);
  const answer = page.getByRole('article', { name: 'Outrider' });
  // In the page, because a message from here would be late: once text has arrived, and again when the answer goes on.
  await page.evaluate(() => {
    const lose = new BroadcastChannel('lose');
    const waitsFor = [/\d tokens/, /are loaded again/, /were loaded again|\d tokens/];
    const observer = new MutationObserver(() => {
      const about = document.querySelector('article.assistant .head p')?.textContent ?? '';
      if (!waitsFor[0]?.test(about)) return;
      waitsFor.shift();
      if (waitsFor.length !== 1) lose.postMessage('');
      if (waitsFor.length === 0) observer.disconnect();
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const question = 'Leo plants 5 trees every day for 5 days. Then Leo plants 3 trees every day for 9 days.';
  await page.getByRole('textbox', { name: 'Message' }).fill(`${question} How many trees is that in all?`);
  await page.getByRole('button', { name: 'Send' }).click();
  const fault = page.getByRole('alert');
  await expect(fault).toContainText('lost twice within a minute');
  await expect(fault.getByRole('button', { name: 'Load the models again' })).toBeVisible();
  const partial = (await answer.locator('.text').textContent()) ?? '';
  expect(partial).not.toBe('');
  await page.screenshot({ path: 'test-results/device-lost-twice.png', animations: 'disabled' });
  expect(partial).not.toContain('The answer is');
  const target = page.getByRole('radio', { name: /^Target/ });
  await expect(target).not.toBeChecked();
  await target.check();
  await loaded(page);
  await answer.getByRole('button', { name: 'Continue' }).click();
  await expect(answer.locator('.text')).toContainText('The answer is 52.');
  await expect(answer).toHaveAttribute('aria-busy', 'false');
  expect(((await answer.locator('.text').textContent()) ?? '').startsWith(partial)).toBe(true);
  await expect(answer).toHaveCount(1);
  await expect(fault).toBeHidden();
});

test('a cache that the GPU refuses: the page offers one at f16, and the answer is written', async ({ page }) => {
  // Keys of one layer that are larger are asked for at the largest size there is, which is refused: f32 needs 197 kB.
  await patchWorker(
    page,
    `const { createBuffer } = GPUDevice.prototype;
    GPUDevice.prototype.createBuffer = function (made) {
      const refused = /keys$/.test(made.label) && made.size > 150000;
      return createBuffer.call(this, refused ? { ...made, size: this.limits.maxBufferSize } : made);
    };`,
  );
  await open(page, 'target', 'autoregressive');
  await page.getByRole('button', { name: 'Answer' }).click();
  const fault = page.getByRole('alert');
  await expect(fault).toContainText('tokens does not fit');
  await fault.getByRole('button', { name: 'Use an f16 cache' }).click();
  await expect(fault).toBeHidden();
  await expect(page.locator('#phase')).toContainText('f16 cache');
  await ready(page);
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#answer')).toContainText('The answer is');
  await expect(fault).toBeHidden();
});
