// The benchmark page, with runs as short as possible on SwiftShader.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, expect, type Page, test } from '@playwright/test';
import { audit, serious } from './axe.ts';
import { history } from './demo.ts';
import { root, WatchedServer } from './server.ts';

test.describe.configure({ mode: 'serial' });

const strangers: string[] = [];
const complaints: string[] = [];

/** `wanted`: addresses other than this server's that may be requested. */
const open = async (page: Page, query: string, wanted?: RegExp): Promise<void> => {
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(http:\/\/localhost|data:|blob:)/.test(url) && !wanted?.test(url)) strangers.push(url);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`/benchmark.html?${query}`);
};

const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true });
const finished = (page: Page) => expect(run(page)).toBeEnabled({ timeout: 500_000 });
const row = (page: Page, system: string) => page.locator(`tr[data-system="${system}"]`);
const figure = (page: Page, system: string, title: string) => row(page, system).locator(`td[data-label="${title}"]`);

/** The result as the page saves it. */
const saved = async (page: Page) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save JSON' }).click(),
  ]);
  return { path: await download.path(), file: JSON.parse(readFileSync(await download.path(), 'utf8')) };
};

const SMALL = 'model=draft&suite=copy&prompts=1&tokens=8&repeat=1&device=unmeasured';

test('the device is measured; Quick measures three systems on whole answers, and its result is copied and saved', async ({
  browser,
}) => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const context = await browser.newContext({ permissions, reducedMotion: 'reduce' }); // axe measures colours at rest
  const page = await context.newPage();
  const runtimes: string[] = [];
  page.on('request', (request) => {
    if (/asyncify|transformers\.min/.test(request.url())) runtimes.push(request.url());
  });
  await open(page, '');
  await expect(run(page)).toBeHidden();
  await page.getByRole('button', { name: 'Measure' }).click();
  await expect(page.locator('#adapter')).toContainText(/swiftshader/i);
  for (const id of ['bandwidth', 'multiply-adds', 'flatness'])
    await expect(page.locator(`#${id}`)).toHaveText(/^\d+(\.\d+)?$/);
  await expect(page.locator('#limits')).toContainText('Largest buffer');
  await expect(page.locator('#pass-chart canvas')).toBeVisible();
  await expect(page.locator('#pass-chart table')).toContainText('rows in a pass, M 16');

  const quick = page.getByRole('button', { name: 'Quick (1 minute)' });
  await expect(quick).toBeEnabled();
  const lines = await history(page, '#left');
  await quick.click();
  await expect(quick).toBeDisabled();
  await expect(quick).toBeEnabled({ timeout: 500_000 });
  await expect(page.locator('#fault')).toBeHidden();
  const bars = page.getByRole('list', { name: 'Tokens per second' }).getByRole('listitem');
  await expect(bars).toHaveCount(4);
  await expect(bars.filter({ hasText: /^Plain decoding/ })).toHaveText(/^Plain decoding[\d.]+ .*tokens\/s$/);
  await expect(bars.filter({ hasText: /^DFlash/ })).toHaveText(/^DFlash[\d.]+ .*tokens\/s, \d\.\d\d× plain decoding$/);
  for (const system of ['autoregressive', 'dflash', 'draft-model', 'prompt-lookup']) {
    await expect(figure(page, system, 'Tokens/s')).toHaveText(/^\d/);
    await expect(figure(page, system, 'Output')).toHaveText('✓ same tokens');
    await expect(figure(page, system, 'Accuracy')).toHaveText(/^\d+(\.\d)? %$/);
    await expect(figure(page, system, 'Bandwidth used')).toHaveText(/^(\d\.\d|\d\d+|< 0\.1) %$/);
    await expect(figure(page, system, 'Peak memory')).toHaveText(/^\d+(\.\d)? MB$/);
  }
  await expect(figure(page, 'autoregressive', 'Acceptance length')).toHaveText('1.00');
  await expect(figure(page, 'dflash', 'Host memory')).toBeHidden();
  await page.getByLabel('Memory and GPU calls').check();
  await expect(figure(page, 'dflash', 'Host memory')).toBeVisible();
  await expect(figure(page, 'dflash', 'Host memory')).toHaveText(/^\d+(\.\d)? MB$/);
  await expect(page.locator('#memory-about')).toContainText('by performance.memory, which does not count workers');
  await expect(row(page, 'dflash').locator('li[data-state=done]')).toHaveCount(3);
  // Plain decoding ran once next to each of the three systems.
  await expect(row(page, 'autoregressive').locator('li').first()).toHaveAttribute('title', /: done, 3 of 3 runs$/);
  await expect(row(page, 'dflash').locator('li').first()).toHaveAttribute('title', /: done, 1 of 1 run$/);
  expect((await lines()).some(([line]) => /^Row [23] of 3, about \d+ (s|min) left$/.test(line ?? ''))).toBe(true);
  await expect(page.locator('#left')).toBeEmpty();
  await expect(page.locator('#cost')).toBeHidden(); // all three are exact
  await page.getByText('Custom plan').click();
  await expect(page.getByLabel('Prompt limit')).toHaveValue('3');
  await expect(page.getByRole('checkbox', { name: 'DFlash' })).toBeChecked();
  await expect(page.getByRole('checkbox', { name: /^Measure the device first/ })).not.toBeChecked();

  await page.getByRole('button', { name: 'Copy as Markdown' }).click();
  await expect(page.locator('#copied')).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('| DFlash |');

  const { path, file } = await saved(page);
  const systems = ['draft-model', 'prompt-lookup', 'dflash'];
  expect(file).toMatchObject({
    outrider: 'benchmark',
    version: 1,
    plan: { model: 'target', max_tokens: 160, repeat: 1, seed: 0, systems: systems.map((system) => ({ system })) },
  });
  expect(file.plan.prompts).toHaveLength(3);
  expect(file.device.passes.relative['1']).toBe(1);
  expect(file.rows).toContainEqual(
    expect.objectContaining({ host_memory: expect.objectContaining({ by: 'performance.memory' }) }),
  );
  const counted = file.runs.filter(({ repetition }: { repetition: number }) => repetition >= 0);
  expect(counted).toHaveLength(18); // three prompts, three systems, each next to plain decoding
  expect(file.runs.length).toBe(24); // and a warm-up run of both, for each system
  // The wrapped prototypes and the trace count the same calls.
  for (const { metrics, counted: calls } of file.runs)
    expect([calls.dispatches, calls.submits, calls.maps]).toEqual([
      metrics.dispatches,
      metrics.submits,
      metrics.readbacks,
    ]);

  await page.getByLabel('First result').setInputFiles(path);
  await page.getByLabel('Second result').setInputFiles(path);
  await expect(page.locator('#compared')).toContainText('Both measurements have the same plan and device.');
  await expect(page.locator('#compared tbody tr')).toHaveCount(4);
  await expect(page.locator('#compared tbody')).toContainText('× 1.00');
  await page
    .getByLabel('Second result')
    .setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
  await expect(page.locator('#compare-fault')).toContainText('other.json: it is not a result of this page');
  await expect(page.locator('#compare-2-name')).toHaveText('other.json');
  await expect(page.locator('#compared')).toBeHidden();
  // The same file can be chosen once more, after it was mended: browsers report no other choice.
  const chooser = page.waitForEvent('filechooser');
  await page.locator('label[for=compare-2]').click();
  await chooser;
  await expect(page.getByLabel('Second result')).toHaveValue('');

  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);

  expect(serious(await audit(page))).toEqual([]);
  expect(runtimes).toEqual([]); // no peer was chosen
  await context.close();
});

test('a dead worker and a lost device do not stop the queue, and their runs can be repeated', async ({ page }) => {
  // Workers in order of their start: for the check of WebGPU, one that is killed, one that loses its device at once.
  await page.addInitScript(() => {
    const { Worker } = globalThis;
    const module = (code: string): string => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const lossy = (url: string | URL): string => {
      const patch = module(`const { requestDevice } = GPUAdapter.prototype;
        GPUAdapter.prototype.requestDevice = async function (...args) {
          const device = await requestDevice.apply(this, args);
          setTimeout(() => device.destroy(), 10);
          return device;
        };`);
      return module(`import '${patch}'; import '${new URL(url, location.href)}';`);
    };
    let started = 0;
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(++started === 3 ? lossy(url) : url, options);
        if (started !== 2) return;
        setTimeout(() => {
          this.terminate();
          this.dispatchEvent(new ErrorEvent('error', { message: 'killed by the test' }));
        }, 200);
      }
    };
  });
  await open(page, `${SMALL}&systems=prompt-lookup&variants=prompt-lookup:ngram=2`);
  const retryWaits = page.locator('#rows').evaluate(
    (rows) =>
      new Promise((resolve) => {
        new MutationObserver(() => {
          const retry = rows.querySelector<HTMLButtonElement>('button:not([hidden])');
          if (retry) resolve(retry.disabled);
        }).observe(rows, { subtree: true, childList: true, attributes: true });
      }),
  );
  await run(page).click();
  expect(await retryWaits).toBe(true); // the other row still runs
  await finished(page);
  const [first, second] = ['prompt-lookup', 'prompt-lookup:ngram=2'];
  await expect(row(page, first).locator('.state')).toContainText('killed by the test');
  await expect(row(page, second).locator('.state')).toContainText(/lost|destroyed/i);
  await expect(page.locator('#status')).toHaveText('Finished. 2 rows have failed runs. Press Retry to repeat them.');

  for (const name of ['Retry Prompt lookup', 'Retry Prompt lookup (ngram=2)']) {
    await page.getByRole('button', { name, exact: true }).click();
    await finished(page);
    await page.locator('#precision').selectOption('f32'); // of the next plan
  }
  const { rows } = (await saved(page)).file;
  const peaks = [first, second].map(
    (name) => rows.find(({ system }: { system: string }) => system === name).peak_bytes,
  );
  expect(peaks[0]).toBeGreaterThan(0);
  expect(peaks[1]).toBe(peaks[0]);
  for (const system of [first, second]) {
    await expect(row(page, system).locator('.state')).toHaveText('Done.');
    await expect(figure(page, system, 'Output')).toHaveText('✓ same tokens');
  }
});

test('the address names seed, precision and target; Cancel ends the measuring of the device and its worker', async ({
  page,
}) => {
  await open(page, 'model=address&address=https://example.org/m.gguf&seed=7&precision=q8&systems=foo');
  await expect(page.locator('#systems')).toContainText('The link names what is none of these systems: foo.');
  await expect(page.locator('#seed')).toHaveValue('7');
  await expect(page.locator('#precision')).toHaveValue('q8');
  const address = page.getByLabel(/^Address of a \.gguf/);
  await expect(address).toHaveValue('https://example.org/m.gguf');
  await address.fill('');
  for (const button of [run(page), page.getByRole('button', { name: 'Measure' })]) {
    await button.click();
    await expect(page.locator('#fault')).toContainText(/Address of a .*fill/i);
    await expect(page.locator('#status')).toHaveText('Stopped by an error.');
  }
  await page.locator('#model').selectOption('draft');
  await expect.poll(() => page.workers().length).toBe(0);
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('#status')?.textContent?.includes('bandwidth')) return;
      observer.disconnect();
      document.querySelector<HTMLButtonElement>('#cancel')?.click();
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole('button', { name: 'Measure' }).click();
  await expect(page.locator('#status')).toHaveText('Cancelled');
  await expect.poll(() => page.workers().length).toBe(0);
  await expect(page.locator('#status')).toHaveText('Cancelled');
  await expect(page.locator('#device')).not.toHaveAttribute('data-measured');
});

interface Hidden {
  /** How often it was asked whether the tab is hidden. */
  readonly asked: { readonly times: number };
}

test('a hidden tab pauses the queue, which goes on afterwards; Cancel ends it', async ({ page }) => {
  await open(page, `${SMALL.replace('repeat=1', 'repeat=2')}&systems=`);
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('#status')?.textContent?.includes('Loading')) return;
      observer.disconnect(); // at once, inside the page: a slow test could miss the loading
      const asked = { times: 0 };
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => ++asked.times > 0 });
      document.dispatchEvent(new Event('visibilitychange'));
      asked.times = 0;
      Object.assign(globalThis, { asked });
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await run(page).click();
  await expect(page.locator('#paused')).toContainText('Paused: this tab is hidden');
  await expect(page).toHaveTitle(/^Paused/);
  // After its warm-up the queue asks whether the tab is hidden, and makes no run that counts.
  await expect.poll(() => page.evaluate(() => (globalThis as unknown as Hidden).asked.times)).toBeGreaterThan(0);
  await expect(page.locator('#status')).toHaveText('Plain decoding: Warming up');
  await expect(run(page)).toBeDisabled();
  await expect(row(page, 'autoregressive').locator('li[data-state=done]')).toHaveCount(0);
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: false });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await expect(page.locator('#paused')).toBeHidden();
  await finished(page);
  await expect(row(page, 'autoregressive').locator('li[data-state=done]')).toHaveCount(1);

  // In the middle of a load, whose messages are still on their way.
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('#status')?.textContent?.includes('Loading')) return;
      observer.disconnect();
      document.querySelector<HTMLButtonElement>('#cancel')?.click();
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await run(page).click();
  await finished(page);
  await page.waitForTimeout(500);
  await expect(page.locator('#status')).toContainText('Cancelled');
  await expect(row(page, 'autoregressive')).toContainText('Cancelled');
});

/** A stand-in for the hub with one model, the exported target. Returns the requested paths. */
const hub = async (page: Page): Promise<readonly string[]> => {
  const asked: string[] = [];
  await page.route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    asked.push(pathname);
    const [, name, file = ''] = /^\/(.+)\/resolve\/main\/(.+)$/.exec(pathname) ?? [];
    const path = join(root, 'public/peers/target', file);
    const headers = { 'Access-Control-Allow-Origin': '*' };
    // As the hub does: 401 for a private or unknown model, 404 for a missing file.
    if (name !== HUB_NAME) await route.fulfill({ status: 401, headers });
    else if (!existsSync(path)) await route.fulfill({ status: 404, headers });
    else await route.fulfill({ path, headers });
  });
  return asked;
};

const HUB_NAME = 'outrider/target';

test.describe(() => {
  let page: Page;
  let asked: readonly string[];

  test.beforeAll(async ({ browser }) => {
    page = await browser.newPage();
    asked = await hub(page);
    await open(
      page,
      'prompts=1&tokens=6&repeat=1&systems=&peer=bundled&hub-dtype=fp32&device=unmeasured',
      /^https:\/\/huggingface\.co\//,
    );
  });
  test.afterAll(() => page.close());

  test('transformers.js runs in the same page; on the same weights it writes the same tokens', async () => {
    await page.getByLabel('Model on the hub, by name').fill(HUB_NAME);
    await page.waitForTimeout(500);
    expect(asked).toEqual([]); // before Run is pressed
    await run(page).click();
    await finished(page);
    const [bundled, published] = ['transformers.js, webgpu, f32', `transformers.js, webgpu, ${HUB_NAME} fp32`];
    for (const peer of [bundled, published]) {
      await expect(row(page, peer).locator('.state')).toHaveText('Done.');
      await expect(figure(page, peer, 'Tokens/s')).toHaveText(/^\d/);
      await expect(figure(page, peer, '× baseline')).toHaveText(/^\d/);
      await expect(figure(page, peer, 'GPU calls per token')).toHaveText(/^\d\S* · \d\S* · 1\.00$/);
    }
    await expect(figure(page, bundled, 'Output')).toHaveText('✓ same tokens');
    await expect(figure(page, published, 'Output')).toHaveText('–'); // its weights are not known to be the same
    expect(asked).toContain(`/${HUB_NAME}/resolve/main/onnx/model.onnx`);
    const { file } = await saved(page);
    expect(file.software.peers).toEqual([`${bundled} 4.3.1`, `${published} 4.3.1`]);
    expect(file.plan.peers).toContainEqual({
      ...{ name: HUB_NAME, base: null, dtype: 'fp32', device: 'webgpu' },
      title: published,
    });
    const [text] = file.runs
      .filter(({ system }: { system: string }) => system === published)
      .map((each: { text: string }) => each.text);
    expect(text).toMatch(/\w/);
  });

  test('a missing model or weight type is named, the other rows go on, and a malformed name sends no request', async () => {
    await page.getByRole('checkbox', { name: 'The bundled target, exported to ONNX' }).uncheck();
    const name = page.getByLabel('Model on the hub, by name');
    await name.fill('outrider/missing');
    await run(page).click();
    await finished(page);
    await expect(row(page, 'transformers.js, webgpu, outrider/missing fp32').locator('.state')).toHaveText(
      'The hub has no public model named outrider/missing. Check the name: owner/name, as in its address on huggingface.co.',
    );
    await name.fill(HUB_NAME);
    await page.getByLabel('Its weight type').selectOption('q4');
    await page.getByRole('checkbox', { name: 'Prompt lookup' }).check();
    await run(page).click();
    await finished(page);
    await expect(row(page, `transformers.js, webgpu, ${HUB_NAME} q4`).locator('.state')).toContainText(
      `The model ${HUB_NAME} on the hub has no ONNX weights of type q4 (onnx/model_q4.onnx).`,
    );
    await expect(row(page, 'prompt-lookup').locator('.state')).toHaveText('Done.');
    const before = asked.length;
    await name.fill('https://huggingface.co/outrider/target');
    await run(page).click();
    await expect(page.locator('#fault')).toContainText(/Model on the hub, by name: .*owner\/name/);
    expect(asked).toHaveLength(before);
  });

  test('Cancel ends a peer that is downloading', async () => {
    await page.getByLabel('Model on the hub, by name').fill('');
    await page.getByRole('checkbox', { name: 'Prompt lookup' }).uncheck();
    await page.getByRole('checkbox', { name: 'The bundled target, exported to ONNX' }).check();
    let held = 0;
    await page.route('**/peers/target/**/*.onnx', () => void held++); // never answered
    await run(page).click();
    await expect.poll(() => held).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await finished(page);
    await expect.poll(() => page.workers().length).toBe(0);
  });
});

test('host memory: an isolated page measures workers', async ({ launchOptions }) => {
  await using server = new WatchedServer(join(root, 'dist/demo'));
  Object.assign(server.headers, {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  });
  const base = await server.listen();
  // Otherwise the browser waits up to half a minute for its next garbage collection.
  const args = [...(launchOptions.args ?? []), '--enable-blink-features=ForceEagerMeasureMemory'];
  const browser = await chromium.launch({ ...launchOptions, args });
  const isolated = await browser.newPage();
  await isolated.goto(`${base}benchmark.html?${SMALL}&systems=`);
  await run(isolated).click();
  await finished(isolated);
  await expect(isolated.locator('#memory-about')).toContainText('that of the worker after its last run');
  const { file } = await saved(isolated);
  expect(file.rows[0].host_memory.by).toBe('measureUserAgentSpecificMemory');
  expect(file.rows[0].host_memory.bytes).toBeGreaterThan(1e6);
  await browser.close();
});

test('own prompts are read from the text box or a file, and a wrong line is named', async ({ page }) => {
  await open(page, 'suite=own&systems=');
  await run(page).click();
  await expect(page.locator('#fault')).toContainText('there are no prompts');
  await page
    .locator('#prompt-file')
    .setInputFiles({ name: 'mine.jsonl', mimeType: 'text/plain', buffer: Buffer.from('"one"\n{"x":1}') });
  await expect(page.locator('#prompt-file-name')).toHaveText('mine.jsonl');
  await run(page).click();
  await expect(page.locator('#fault')).toContainText('mine.jsonl:2 has no prompt');
  await page.getByLabel('Prompts', { exact: true }).selectOption('copy');
  await page.getByLabel('Token limit').fill('1');
  await run(page).click();
  await expect(page.locator('#fault')).toContainText(/Token limit: .*2/);
});

test('no other server received a request, and the console has no errors', () => {
  expect(strangers).toEqual([]);
  expect(complaints).toEqual([]);
});
