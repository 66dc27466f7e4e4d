// A judge as an ONNX file in a browser: it runs in WebAssembly, or on WebGPU if asked for, with the same scores on
// both, and only the runtime in use is downloaded. The engine is in a worker, as on a page.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { patchWorker } from './lost-device.mjs';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  /** One for both loads: the models' kernels are compiled once. */
  engine?: import('../src/index.ts').Engine;
}

/** In the worker: tells on a channel how many devices got work so far. */
const COUNT_DEVICES = `const busy = new Set();
  const { submit } = GPUQueue.prototype;
  GPUQueue.prototype.submit = function (commands) {
    busy.add(this);
    return submit.call(this, commands);
  };
  const channel = new BroadcastChannel('busy');
  channel.onmessage = () => channel.postMessage(busy.size);`;

let library: WatchedServer;
const open = async (page: Page, patch = ''): Promise<void> => {
  await patchWorker(page, `${COUNT_DEVICES} ${patch}`);
  library = new WatchedServer(join(root, 'dist/harness'));
  await page.goto(await library.listen());
  await page.waitForFunction(() => 'outrider' in globalThis);
};
test.afterEach(() => library[Symbol.asyncDispose]());

/** Scores of the bundled router over an answer whose steps it all accepts, and the number of devices that got work. */
const route = (page: Page, onnx: 'wasm' | 'webgpu') =>
  page.evaluate(async (onnx) => {
    const harness = globalThis as unknown as Harness;
    harness.engine ??= harness.outrider.connect();
    const { engine } = harness;
    const router = { kind: 'url', url: new URL('models/router/model.onnx', location.href).href } as const;
    const { notice, models } = await engine.load({ target: 'draft', draft: 'draft', router }, { onnx });
    const content = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
    const knobs = { tau: 1, inner: 'autoregressive' };
    const scores: (number | null)[] = [];
    const request = { system: 'arbitrage', prompt: { messages: [{ role: 'user', content }] }, knobs } as const;
    for await (const event of engine.run(request)) if (event.type === 'route') scores.push(event.score);
    const channel = new BroadcastChannel('busy');
    const devices = await new Promise<number>((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
      channel.postMessage('');
    });
    return { notice, family: models.router?.family, scores, devices };
  }, onnx);

/** WebAssembly files downloaded since the last call, without the hashes in their names. */
const fetched = (): readonly string[] =>
  library.requests.splice(0).flatMap(({ path }) => /([^/]+)-[\w-]{8}\.wasm$/.exec(path)?.[1] ?? []);

test('the router has the same scores in WebAssembly and on WebGPU', async ({ page }) => {
  await open(page);
  const wasm = await route(page, 'wasm');
  expect(wasm).toMatchObject({ notice: null, family: 'onnx', devices: 1 });
  expect(wasm.scores.length).toBeGreaterThan(1);
  expect(fetched()).toEqual(['ort-wasm-simd-threaded']);
  const webgpu = await route(page, 'webgpu');
  expect(webgpu).toMatchObject({ notice: null, devices: 2 });
  expect(fetched()).toEqual(['ort-wasm-simd-threaded.jspi']);
  expect(webgpu.scores).toHaveLength(wasm.scores.length);
  for (const [i, score] of wasm.scores.entries())
    expect(Math.abs((webgpu.scores[i] as number) - (score as number))).toBeLessThan(1e-3);
  console.log(
    `largest difference: ${Math.max(...wasm.scores.map((score, i) => Math.abs((webgpu.scores[i] as number) - (score as number))))}`,
  );
});

test('a browser that cannot run it on WebGPU uses WebAssembly and says so', async ({ page }) => {
  await open(page, 'delete WebAssembly.Suspending;');
  const { notice, scores, devices } = await route(page, 'webgpu');
  expect(notice).toMatch(/model\.onnx runs in WebAssembly, not on WebGPU \(.*JSPI/);
  expect(scores.length).toBeGreaterThan(1);
  expect(devices).toBe(1);
  expect(fetched()).toEqual(['ort-wasm-simd-threaded']);
});
