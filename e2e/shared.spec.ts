// One engine for two pages of a browser: connect({ shared: true }). It needs WebGPU in shared workers, which this
// Chromium has.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  client: import('../src/index.ts').Client;
  running: Promise<string>;
}

const open = async (page: Page, base: string): Promise<boolean> => {
  await page.goto(base);
  await page.waitForFunction(() => 'outrider' in globalThis);
  return page.evaluate(async () => {
    const harness = globalThis as unknown as Harness;
    harness.client = harness.outrider.connect({ shared: true });
    await harness.client.load({ target: 'draft' });
    return harness.client.shared;
  });
};

/** Starts a run; `running` is what it ends with. */
const start = (page: Page, maxTokens: number): Promise<void> =>
  page.evaluate(async (maxTokens) => {
    const harness = globalThis as unknown as Harness;
    const content = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
    const request = {
      prompt: { messages: [{ role: 'user', content }] },
      maxTokens,
      ignoreEos: maxTokens > 100,
    } as const;
    const run = harness.client.run(request)[Symbol.asyncIterator]();
    const first = await run.next();
    harness.running = (async () => {
      let text = `${first.value?.type}: `;
      for (let next = await run.next(); !next.done; next = await run.next())
        if (next.value.type === 'commit') text += next.value.text;
      return text;
    })();
  }, maxTokens);

const finished = (page: Page): Promise<string> => page.evaluate(() => (globalThis as unknown as Harness).running);

test('two pages share one engine, and a page that is closed ends its run', async ({ context }) => {
  await using server = new WatchedServer(join(root, 'dist/harness'));
  const base = await server.listen();
  const [first, second] = [await context.newPage(), await context.newPage()];
  expect(await open(first, base)).toBe(true);
  server.requests.length = 0;
  expect(await open(second, base)).toBe(true);
  // The model is on the device already: it is not even asked for.
  expect(server.requests.filter(({ path }) => path.includes('/models/'))).toEqual([]);

  await start(first, 100);
  expect(await finished(first)).toContain('The answer is 84.');
  await start(first, 900);
  await start(second, 100);
  await first.close();
  expect(await finished(second)).toMatch(/^queued: .*The answer is 84\./s);
});
