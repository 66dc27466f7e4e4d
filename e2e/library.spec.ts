// The library in a browser without f16 and with subgroups of four: the golden models, and the README's own example.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
}

const golden = join(root, '../shared/golden');
const present = existsSync(golden);
if (!present && process.env.CI === 'true')
  throw new Error('CI needs the reference data in ../shared, and it is not there');

if (!present) console.warn('\n*** ../shared is absent: golden models in the browser are SKIPPED ***\n');

const harness = async (page: Page, base: string): Promise<void> => {
  await page.goto(base);
  await page.waitForFunction(() => 'outrider' in globalThis);
};

for (const name of ['llama-tiny', 'qwen2-tiny', 'qwen3-tiny']) {
  test(`${name}: greedy tokens are the reference's`, async ({ page }) => {
    test.skip(!present, '../shared is absent');
    await using server = new WatchedServer(golden);
    await using library = new WatchedServer(join(root, 'dist/harness'));
    const { prompt, greedy } = JSON.parse(readFileSync(join(golden, name, 'case.json'), 'utf8'));
    const url = `${await server.listen()}${name}/`;
    await harness(page, await library.listen());
    const tokens = await page.evaluate(
      async ({ url, prompt, count }) => {
        const { committedTokens, createEngine } = (globalThis as unknown as Harness).outrider;
        const engine = createEngine();
        await engine.load({ target: { kind: 'url', url } }, { precision: 'f32' });
        const events = [];
        const request = { prompt: { tokens: prompt }, maxTokens: count, ignoreEos: true };
        for await (const event of engine.run(request)) events.push(event);
        await engine.close();
        return committedTokens(events);
      },
      { url, prompt, count: greedy.length },
    );
    expect(tokens).toEqual(greedy);
  });
}

test('the example in README.md runs as it stands', async ({ page }) => {
  const code = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
  expect(code).toContain("from 'outrider'");
  await using library = new WatchedServer(join(root, 'dist/harness'));
  const printed: string[] = [];
  page.on('console', (message) => printed.push(message.text()));
  await harness(page, await library.listen());
  const body = code.replace(/^import (\{.*\}) from 'outrider';$/m, 'const $1 = globalThis.outrider;');
  await page.evaluate(`(async () => { ${body} })()`);
  expect(printed.join('\n')).toContain('The answer is 7.');
});
