// The library in a browser without f16 and with subgroups of four: the golden models, the README's example, and the
// guide's examples on constraints, parameters and tools.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  readonly facades: () => Promise<typeof import('./harness/facades.ts').names>;
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

test("greedy tokens of llama-tiny, qwen2-tiny and qwen3-tiny are the reference's", async ({ page }) => {
  test.skip(!present, '../shared is absent');
  await using server = new WatchedServer(golden);
  await using library = new WatchedServer(join(root, 'dist/harness'));
  const base = await server.listen();
  await harness(page, await library.listen());
  for (const name of ['llama-tiny', 'qwen2-tiny', 'qwen3-tiny']) {
    const { prompt, greedy } = JSON.parse(readFileSync(join(golden, name, 'case.json'), 'utf8'));
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
      { url: `${base}${name}/`, prompt, count: greedy.length },
    );
    expect(tokens, name).toEqual(greedy);
  }
});

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

/** What each example prints last. */
const EXAMPLES: readonly (readonly [page: string, lasts: readonly unknown[]])[] = [
  [
    'constraints',
    [[{ answer: expect.any(Number), unit: expect.any(String) }, expect.objectContaining({ valid: true })]],
  ],
  ['parameters', [[expect.not.stringContaining('dollars')]]],
  [
    'tools',
    [
      ['add', { a: expect.any(Number), b: expect.any(Number) }],
      [expect.any(Number)],
      [expect.any(Number)],
      [expect.stringMatching(/^(yes|no)$/)],
      [expect.stringMatching(/./)],
      ['arguments', '}'],
    ],
  ],
];

test('the examples of the guide run as they stand', async ({ page }) => {
  const codes = EXAMPLES.map(([name, lasts]) => {
    const guide = readFileSync(join(root, `docs/guide/${name}.md`), 'utf8');
    const own = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    expect(own, name).toHaveLength(lasts.length);
    return own.map((code) => code.replaceAll(/^import .*$/gm, '').replace(/^export default (.*);$/m, 'await ask($1);'));
  });
  await using library = new WatchedServer(join(root, 'dist/harness'));
  await harness(page, await library.listen());
  const printed = await page.evaluate(async (examples) => {
    const { outrider, facades } = globalThis as unknown as Harness;
    // One engine for all of them, so that each model's kernels are compiled once.
    const engine = outrider.createEngine();
    const close = engine.close.bind(engine);
    const connect = () => Object.assign(engine, { close: async () => {} });
    const last: unknown[] = [];
    for (const code of examples.flat()) {
      const lines: unknown[][] = [];
      const console = { log: (...parts: unknown[]) => lines.push(parts) };
      /** A file that exports a backend is used as the polyfill uses it. */
      const ask = async (Backend: import('../src/api/prompt-api-polyfill.ts').PolyfillBackendClass) => {
        const backend = new Backend();
        await backend.createSession({}, {});
        console.log((await backend.generateContent([{ role: 'user', parts: [{ text: 'Ida has 54 stones.' }] }])).text);
      };
      const values = { ...outrider, ...(await facades()), connect, console, ask };
      const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
      await AsyncFunction(...Object.keys(values), code)(...Object.values(values));
      last.push(lines.at(-1));
    }
    await close();
    return last;
  }, codes);
  expect(printed).toEqual(EXAMPLES.flatMap(([, lasts]) => lasts));
});
