// One engine for two pages of a browser: connect({ shared: true }). It needs WebGPU in shared workers, which this
// Chromium has.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  client: import('../src/index.ts').Client;
  started: Promise<void>;
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

/**
 * Starts a run, now or as soon as the other page's has started: a message from here could be late. `started` is its
 * first event, and `running` what it ends with.
 */
const start = (page: Page, maxTokens: number, when: 'now' | 'after the other'): Promise<void> =>
  page.evaluate(
    ([maxTokens, when]) => {
      const harness = globalThis as unknown as Harness;
      const runs = new BroadcastChannel('runs');
      const content = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
      const request = {
        prompt: { messages: [{ role: 'user', content }] },
        maxTokens,
        ignoreEos: maxTokens > 100,
      } as const;
      const other = new Promise((resolve) => {
        runs.onmessage = resolve;
      });
      harness.started = new Promise((resolve) => {
        harness.running = (async () => {
          if (when !== 'now') await other;
          let text = '';
          for await (const event of harness.client.run(request)) {
            if (text === '') {
              text = `${event.type}: `;
              runs.postMessage('');
              resolve();
            }
            if (event.type === 'commit') text += event.text;
          }
          return text;
        })();
      });
    },
    [maxTokens, when] as const,
  );

const started = (page: Page): Promise<void> => page.evaluate(() => (globalThis as unknown as Harness).started);
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

  await start(first, 100, 'now');
  expect(await finished(first)).toContain('The answer is 84.');
  await start(second, 100, 'after the other');
  await start(first, 900, 'now');
  await started(second);
  await first.close();
  expect(await finished(second)).toMatch(/^queued: .*The answer is 84\./s);
});

test('a shared worker that dies fails the run that is under way, and the page goes on with a worker of its own', async ({
  browser,
  page,
}) => {
  await using server = new WatchedServer(join(root, 'dist/harness'));
  expect(await open(page, await server.listen())).toBe(true);
  await start(page, 900, 'now');
  await started(page);
  const devtools = await browser.newBrowserCDPSession();
  const { targetInfos } = await devtools.send('Target.getTargets');
  const { targetId } = targetInfos.find(({ type }) => type === 'shared_worker') as { targetId: string };
  await devtools.send('Target.closeTarget', { targetId });
  await expect(finished(page)).rejects.toThrow("the engine's worker has ended, and its models are gone");
  const after = await page.evaluate(async () => {
    const { client } = globalThis as unknown as Harness;
    const { notice } = await client.load({ target: 'draft' });
    return [notice, await client.shared];
  });
  expect(after).toEqual([expect.stringContaining('this tab loads models of its own'), false]);
});
