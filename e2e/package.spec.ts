// The package that `npm pack` makes, as its users get it: a fresh project for each way of loading it, each in a real
// browser, and its types under the strictest settings.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { build, createServer } from 'vite';
import webpack from 'webpack';
import { freshProject, packed } from './fresh-project.ts';
import { root, WatchedServer } from './server.ts';

let outrider = '';
test.beforeAll(async () => {
  outrider = await packed();
});

const QUESTION = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
const MAIN = `
import { connect } from 'outrider';
import { openai } from 'outrider/openai';

const main = async () => {
  const engine = connect();
  await engine.load({ target: 'draft' });
  const stream = await openai(engine, { system: 'prompt-lookup' }).chat.completions.create({
    messages: [{ role: 'user', content: '${QUESTION}' }],
    temperature: 0,
    stream: true,
  });
  for await (const { choices } of stream) document.body.append(choices[0].delta.content ?? '');
  await engine.close();
};
main().catch((error) => document.body.append(error)).then(() => document.body.append(' (end)'));
`;
const HTML = '<!doctype html><body><script type="module" src="./main.js"></script></body>';

/** Opens the page and waits for the model's answer; returns what it loaded. */
const answers = async (page: Page, address: string): Promise<readonly string[]> => {
  const loaded: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(address);
  await expect(page.locator('body')).toContainText('(end)');
  expect(await page.locator('body').textContent()).toContain('The answer is 84. (end)');
  expect(errors).toEqual([]);
  for (const url of loaded) expect(url.startsWith(address) || url.startsWith('blob:')).toBe(true);
  expect(loaded.filter((url) => url.endsWith('.wasm'))).toEqual([]);
  return loaded;
};

test('Vite builds it', async ({ page }) => {
  const folder = freshProject(outrider, { html: HTML, files: { 'main.js': MAIN } });
  await build({ root: folder, configFile: false, logLevel: 'error', base: './', worker: { format: 'es' } });
  await using server = new WatchedServer(join(folder, 'dist'));
  await answers(page, await server.listen());
});

test('Vite serves it while one works on it', async ({ page }) => {
  const folder = freshProject(outrider, { html: HTML, files: { 'main.js': MAIN } });
  const exclude = ['outrider'];
  const server = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'error',
    optimizeDeps: { exclude },
    server: { port: 0, fs: { allow: [folder, root] } },
  });
  await server.listen();
  await answers(page, server.resolvedUrls?.local[0] ?? '');
  await server.close();
});

test('webpack 5 builds it', async ({ page }) => {
  const folder = freshProject(outrider, { html: HTML.replace('./main.js', './bundle.js'), files: { 'main.js': MAIN } });
  const output = { path: join(folder, 'public'), filename: 'bundle.js' };
  const compiler = webpack({
    context: folder,
    entry: './main.js',
    mode: 'development',
    devtool: false,
    output,
  });
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
    compiler?.run((error, result) => (error ? reject(error) : resolve(result))),
  );
  expect(stats?.toJson({ errors: true, warnings: true }).errors).toEqual([]);
  cpSync(join(folder, 'index.html'), join(folder, 'public/index.html'));
  await using server = new WatchedServer(join(folder, 'public'));
  await answers(page, await server.listen());
});

test('a page loads it from a folder, without a bundler', async ({ page }) => {
  const files = {
    'main.js': MAIN.replaceAll(/'outrider(\/?)([\w-]*)'/g, (_, _slash, name) => `'./outrider/${name || 'index'}.js'`),
  };
  const folder = freshProject(outrider, { html: HTML, files });
  const served = join(folder, 'public');
  cpSync(join(folder, 'node_modules/outrider/dist/library'), join(served, 'outrider'), { recursive: true });
  for (const name of ['index.html', 'main.js']) cpSync(join(folder, name), join(served, name));
  await using server = new WatchedServer(served);
  const loaded = await answers(page, await server.listen());
  expect(loaded.map((url) => new URL(url).pathname)).toContain('/outrider/openai.js');
});

/** Every JavaScript example of the guide, with the name of its page. */
const examples = () => {
  const guide = join(root, 'docs/guide');
  return readdirSync(guide).flatMap((name) =>
    [...readFileSync(join(guide, name), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => ({
      page: name.replace(/\.md$/, ''),
      code,
    })),
  );
};

/** What each example of these pages prints last. */
const LAST: Readonly<Record<string, readonly unknown[]>> = {
  constraints: [[{ answer: expect.any(Number), unit: expect.any(String) }, expect.objectContaining({ valid: true })]],
  parameters: [[expect.not.stringContaining('dollars')]],
  tools: [
    ['add', { a: expect.any(Number), b: expect.any(Number) }],
    [expect.any(Number)],
    [{ stones: expect.any(Number) }],
    [expect.stringMatching(/^(yes|no)$/)],
    [expect.stringMatching(/./)],
    [expect.objectContaining({ type: 'arguments', text: '}' })],
  ],
};

/** Runs an example and keeps what it prints last. A file that exports a backend is used as the polyfill uses it. */
const RUN_EXAMPLE = `
globalThis.last = [];
const { log } = console;
const runExample = async (i, example) => {
  console.log = (...parts) => {
    last[i] = parts;
    log(...parts);
  };
  const { default: Backend } = await example();
  if (Backend) {
    const backend = new Backend();
    await backend.createSession({}, {});
    const contents = [{ role: 'user', parts: [{ text: 'Ida has 54 stones.' }] }];
    console.log((await backend.generateContent(contents)).text);
  }
  log('(end ' + i + ')');
};
`;

/** `connect` for all examples: one engine, so that its shaders are compiled once. */
const ONE_ENGINE = `
import { connect as start } from './node_modules/outrider/dist/library/index.js';
export * from './node_modules/outrider/dist/library/index.js';
let engine;
const own = (one, name) => (typeof one[name] === 'function' ? one[name].bind(one) : one[name]);
const get = (one, name) => (name === 'close' ? async () => {} : own(one, name));
export const connect = () => (engine ??= new Proxy(start(), { get }));
`;

test('the examples of the guide run as they stand', async ({ page }) => {
  const all = examples();
  expect(all.length).toBeGreaterThan(7);
  const calls = all.map((_, i) => `await runExample(${i}, () => import('./example-${i}.js'));`).join('\n');
  const main = `${RUN_EXAMPLE}const run = async () => {\n${calls}\n};\nrun().catch((error) => log('(failed)', String(error)));`;
  const files = Object.fromEntries(all.map(({ code }, i) => [`example-${i}.js`, code]));
  const folder = freshProject(outrider, {
    html: HTML,
    files: { ...files, 'main.js': main, 'one-engine.js': ONE_ENGINE },
    packages: ['ai', 'openai', 'zod'],
    models: ['draft', 'target', 'dflash'],
  });
  const alias = [{ find: /^outrider$/, replacement: join(folder, 'one-engine.js') }];
  const worker = { format: 'es' } as const;
  await build({ root: folder, configFile: false, logLevel: 'error', base: './', worker, resolve: { alias } });
  await using server = new WatchedServer(join(folder, 'dist'));
  let printed = '';
  page.on('console', (message) => {
    printed += message.text();
  });
  // Tests use no network: at the address of a published model is a bundled one.
  const published = /^https:\/\/huggingface\.co\/HuggingFaceTB\/SmolLM2-135M-Instruct\/resolve\/main\/([\w.]+)$/;
  await page.route('https://huggingface.co/**', async (route) => {
    const file = join(root, 'public/models/draft', published.exec(route.request().url())?.[1] ?? '-');
    if (existsSync(file)) await route.fulfill({ path: file, headers: { 'access-control-allow-origin': '*' } });
    else await route.fulfill({ status: 404, headers: { 'access-control-allow-origin': '*' } });
  });
  await page.goto(await server.listen());
  await expect
    .poll(() => /\(failed\)|\(end (\d+)\)$/.exec(printed)?.[1] ?? printed.slice(-200), { timeout: 240_000 })
    .toBe(String(all.length - 1));
  const outputs = printed.split(/\(end \d+\)/);
  expect(outputs.filter((output) => output.includes('The answer is 84.'))).toHaveLength(4); // one an interface
  const last = await page.evaluate(() => (globalThis as unknown as { readonly last: readonly unknown[] }).last);
  for (const [name, expected] of Object.entries(LAST))
    expect(
      last.filter((_, i) => all[i]?.page === name),
      name,
    ).toEqual(expected);
});

test('an unused import costs nothing, and a facade does not bring the engine', async () => {
  /** Of the page's script. Workers and files are emitted for what is read, used or not. */
  const size = async (main: string): Promise<number> => {
    const folder = freshProject(outrider, { html: HTML, files: { 'main.js': main } });
    await build({ root: folder, configFile: false, logLevel: 'error', publicDir: false, worker: { format: 'es' } });
    const page = readdirSync(join(folder, 'dist/assets')).filter((name) => /^index-.*\.js$/.test(name));
    return page.reduce((sum, name) => sum + readFileSync(join(folder, 'dist/assets', name)).length, 0);
  };
  const empty = await size('');
  expect(await size("import 'outrider'; import { connect } from 'outrider';")).toBe(empty);
  // The engine has 500 kB. What a facade has is its own code with the checks of its options, the formats of tool calls
  // with the references in their schemas, the figures of a trace, and which tokens are text.
  const limits = {
    trace: 15_000,
    'ai-sdk': 29_500,
    'prompt-api': 34_500,
    'prompt-api-polyfill': 35_000,
    openai: 43_000,
  };
  for (const [name, limit] of Object.entries(limits))
    expect(await size(`import * as all from 'outrider/${name}'; globalThis.all = all;`), name).toBeLessThan(
      empty + limit,
    );
});

test('a browser without Symbol.dispose gets it before all else, in the worker too', () => {
  const library = join(freshProject(outrider, { html: '', files: {} }), 'node_modules/outrider/dist/library');
  for (const name of ['index.js', 'worker.js'])
    expect(readFileSync(join(library, name), 'utf8'), name).toMatch(/^import"\.\/dispose-/);
});

test('npm install runs no script of anybody, and what is installed works', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-install-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // The types of WebGPU are the only dependency. They come from this checkout, because nothing here asks a registry.
  const types = join(root, 'node_modules/@webgpu/types');
  const tarball = readdirSync(join(outrider, '..')).find((name) => name.endsWith('.tgz')) ?? '';
  const options = ['--offline', '--no-audit', '--no-fund', '--foreground-scripts', '--ignore-scripts=false'];
  const install = spawnSync('npm', ['install', ...options, join(outrider, '..', tarball), types], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(install.status, install.stderr).toBe(0);
  expect(install.stdout).not.toMatch(/^> /m); // how npm announces a script that it runs
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const installed = Object.entries(packages as Record<string, { link?: true; hasInstallScript?: true }>);
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  const names = installed.filter(([name, { link }]) => name.startsWith('node_modules/') && !link).map(([name]) => name);
  expect(names).toEqual(['node_modules/outrider']);

  const program = join(folder, 'node_modules/.bin/outrider');
  const { stdout } = spawnSync(program, ['tokenize', '--text', 'Eva has 3 cups.', '--model', 'draft'], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/\d+/);
  const library = join(folder, 'node_modules/outrider/dist/library');
  const imported = /\.\/library\/(ort\.wasm\.[\w.]+)/.exec(readFileSync(join(library, '../cli.js'), 'utf8'))?.[1] ?? '';
  const policy = join(root, 'public/models/blockpilot/policy.onnx');
  const run = `import { readFileSync } from 'node:fs';
    const { env, InferenceSession } = await import(${JSON.stringify(pathToFileURL(join(library, imported)).href)});
    env.wasm.numThreads = 1; // as src/judge/onnx.ts has it
    console.log((await InferenceSession.create(readFileSync(${JSON.stringify(policy)}))).inputNames);`;
  const onnx = spawnSync(process.execPath, ['--input-type=module', '-e', run], { encoding: 'utf8' });
  expect(onnx.stdout, onnx.stderr).toContain('features');
  expect(readFileSync(join(library, '../LICENCES.md'), 'utf8')).toContain('## @huggingface/tokenizers');
});

test('its types hold under strict settings, and its program starts', () => {
  const main = `
import { connect, createEngine, type Engine, type TraceEvent } from 'outrider';
import { createOutrider } from 'outrider/ai-sdk';
import { type ChatCompletion, openai } from 'outrider/openai';
import { promptApi } from 'outrider/prompt-api';
import { measure } from 'outrider/trace';
import 'outrider/widget';

document.querySelector('outrider-chat')?.addEventListener('outrider-done', ({ detail }) => detail.text.length);
const engine: Engine = connect();
const answer: ChatCompletion = await openai(engine).chat.completions.create({ messages: [] });
const text: string = answer.choices[0]?.message.content ?? '';
const events: TraceEvent[] = [];
for await (const event of createEngine().run({ prompt: { text } })) events.push(event);
const speed: number | null = measure(events).tokens_per_second;
const session = await promptApi(engine, { models: { target: 'draft' } }).create();
// @ts-expect-error: types are there, so a wrong one is noticed
const wrong: number = await session.prompt(text);
export { createOutrider, speed, wrong };
`;
  const options = {
    strict: true,
    noEmit: true,
    types: [],
    skipDefaultLibCheck: true, // half of the time, and the compiler's own libraries are not ours
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
  };
  const both = ['bundler', 'nodenext'].map((moduleResolution) => {
    const compilerOptions = {
      ...options,
      moduleResolution,
      target: 'es2023',
      module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
    };
    const files = { 'main.ts': main, 'tsconfig.json': JSON.stringify({ compilerOptions, files: ['main.ts'] }) };
    const folder = freshProject(outrider, { html: '', files, packages: ['@ai-sdk/provider'] });
    return [
      folder,
      spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout,
    ] as const;
  });
  const ours = (output: string) =>
    output.split('\n').filter((line) => /^(\S*node_modules\/outrider\/|main\.ts)/.test(line));
  expect(both.flatMap(([, output]) => ours(output))).toEqual([]);
  const program = join(both[0]?.[0] ?? '', 'node_modules/outrider/src/cli/outrider.mjs');
  const { stdout } = spawnSync(process.execPath, [program, 'tokenize', '--text', 'Eva', '--model', 'draft'], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/\d+/);
});
