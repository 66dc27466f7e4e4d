// The builds, by mode: the demo (default), the library (dist/library, what npm users import), the widget as one file beside
// it, an empty page around the library for e2e; and the tests' transform (vitest). In all of them shaders come in as text through
// `?raw`, with their includes in place (.ci/wgsl.mjs).
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Plugin, UserConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testEnvironment } from './.ci/machine.mjs';
import { shaders } from './.ci/wgsl.mjs';

/** WebAssembly's, and that for WebGPU. */
const ONNX_RUNTIME = /ort\.(wasm|jspi)\.bundle\.min\.mjs$/;

/**
 * Library builds inline every asset, as base64: 14 MB of WebAssembly, and 17 for WebGPU, stay files beside the worker
 * instead, each fetched with the first network that needs it.
 */
const runtimeAsFile = (): Plugin => ({
  name: 'onnx-runtime-as-file',
  enforce: 'pre',
  transform: {
    filter: { id: ONNX_RUNTIME },
    handler(code, id) {
      const name =
        ONNX_RUNTIME.exec(id)?.[1] === 'jspi' ? 'ort-wasm-simd-threaded.jspi.wasm' : 'ort-wasm-simd-threaded.wasm';
      const file = this.emitFile({ type: 'asset', name, source: readFileSync(join(dirname(id), name)) });
      return code
        .replaceAll(`new URL("${name}",import.meta.url).href`, `import.meta.ROLLUP_FILE_URL_${file}`)
        .replace(/new (\w+)\("ort\.\w+\.bundle\.min\.mjs",import\.meta\.url\)/g, 'new $1(import.meta.url)'); // itself, under its new name
    },
  },
});

/** What `exports` in package.json names. */
const ENTRIES = {
  index: 'src/index.ts',
  trace: 'src/trace/index.ts',
  widget: 'src/widget/index.ts',
  openai: 'src/api/openai.ts',
  'ai-sdk': 'src/api/ai-sdk.ts',
  'prompt-api': 'src/api/prompt-api.ts',
};

/** Chunks run before the entry that imports them: what gives Safari its Symbol.dispose has to be the first of them. */
const FIRST = { name: 'dispose', test: /src\/base\/dispose\.ts$/ };

/** What both sides of a worker's border have: a page whose engine lives in a worker needs no more. */
const BOTH = { name: 'both', test: /src\/(base\/errors|engine\/bundled)\.ts$/ };

/** The engine and all that it imports statically: in a dozen chunks it would be a tenth larger. */
const ENGINE = { name: 'engine', test: /src\/engine\/engine\.ts$/ };

const CHUNKS = { groups: [FIRST, BOTH, ENGINE] };

/** The page's build and the worker's name the ONNX runtime alike, so that it is one file. */
const OUTPUT = { minify: true, codeSplitting: CHUNKS, assetFileNames: 'assets/[name]-[hash][extname]' };

/**
 * `new Worker(new URL('./file', import.meta.url))` is how bundlers find a worker; Vite's library build hides it from them.
 * The file is one that nothing imports: Vite's development server serves workers under an address of their own, and the
 * worker's chunk, which lazy chunks import from, would be loaded and run a second time.
 */
const HIDDEN =
  /new URL\(\s*\/\* @vite-ignore \*\/\s*new URL\(`(assets\/)(worker-[^`]+)`,\s*import\.meta\.url\)\.href,\s*``\+import\.meta\.url\)/;
const workerForBundlers = (): Plugin => ({
  name: 'worker-for-bundlers',
  enforce: 'post',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk')
        chunk.code = chunk.code.replace(HIDDEN, (_, folder: string, worker: string) => {
          const fileName = `${folder}start-${worker}`;
          this.emitFile({ type: 'asset', fileName, source: `import "./${worker}";\n` });
          return `new URL("./${fileName}",import.meta.url)`;
        });
  },
});

/** The pages of the demo. */
const PAGES = ['index', 'benchmark', 'widget']
  .map((name) => join(import.meta.dirname, `demo/${name}.html`))
  .filter((page) => existsSync(page));

/** Where `npm run docs` has been, the pages have its reference and a link to it. */
const apiReference = (): Plugin => {
  const made = join(import.meta.dirname, 'dist/api');
  let out = '';
  return {
    name: 'api-reference',
    apply: 'build',
    configResolved({ root, build }) {
      out = join(resolve(root, build.outDir), 'api');
    },
    transformIndexHtml: (html) =>
      existsSync(made) ? html.replace('</footer>', '<p><a href="./api/">API reference</a></p></footer>') : html,
    closeBundle() {
      if (existsSync(made)) cpSync(made, out, { recursive: true });
    },
  };
};

/** Of a minute and more: begun last, they would be waited for alone. */
const LONGEST = [
  'engine-exact',
  'engine-distribution',
  'smollm2',
  'ensemble-distribution',
  'system-contract',
  'engine-ensemble',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** A slow machine is no warning. */
const checks = { pluginTimings: false };

type Build = Pick<UserConfig, 'root' | 'publicDir' | 'build' | 'plugins'>;

const BUILDS: Readonly<Record<string, Build>> = {
  demo: {
    root: 'demo',
    publicDir: '../public',
    plugins: [apiReference()],
    build: { outDir: '../dist/demo', emptyOutDir: true, rolldownOptions: { input: PAGES, checks } },
  },
  harness: {
    root: 'e2e/harness',
    publicDir: '../../public',
    build: { outDir: '../../dist/harness', emptyOutDir: true, rolldownOptions: { checks } },
  },
  library: {
    root: import.meta.dirname,
    publicDir: false,
    build: {
      outDir: 'dist/library',
      lib: { entry: ENTRIES, formats: ['es'] },
      rolldownOptions: { external: ['webgpu'], checks, output: OUTPUT },
    },
  },
  widget: {
    root: import.meta.dirname,
    publicDir: false,
    build: {
      outDir: 'dist/library',
      emptyOutDir: false, // the library is there
      lib: { entry: { 'outrider-chat': 'src/widget/one-file.ts' }, formats: ['es'] },
      rolldownOptions: { external: ['webgpu'], checks, output: { minify: true, codeSplitting: false } },
    },
  },
};

const ALIAS = [
  // transformers.js serves as a tokenizer only. Its ONNX runtime would add 27 MB of WebAssembly that nothing loads; the
  // common package has the same interface and no backend. Ours (src/judge) imports `onnxruntime-web/wasm` and `/jspi`.
  { find: /^onnxruntime-web(\/webgpu)?$/, replacement: 'onnxruntime-common' },
];

const WITHOUT_ONNX = {
  find: /^onnxruntime-web\/(wasm|jspi)$/,
  replacement: join(import.meta.dirname, 'src/widget/without-onnx.ts'),
};

/** The widget follows the page's colour scheme by `light-dark()`, which older targets would have replaced by variables. */
const CSS_TARGET = ['chrome123', 'firefox120', 'safari17.5'];

const buildFor = (mode: string): Build => BUILDS[mode] ?? (BUILDS.demo as Build);

export default defineConfig(({ mode }) => ({
  ...buildFor(mode),
  build: { ...buildFor(mode).build, cssTarget: CSS_TARGET },
  base: './', // any static host, any folder
  appType: 'mpa', // a missing file is a 404, not the page again
  plugins: [
    shaders(),
    ...(buildFor(mode).plugins ?? []),
    ...(mode === 'library' ? [runtimeAsFile(), workerForBundlers()] : []),
  ],
  worker: {
    format: 'es',
    rolldownOptions: { checks, output: { codeSplitting: CHUNKS } },
    plugins: () => [shaders(), ...(mode === 'library' ? [runtimeAsFile()] : [])],
  },
  resolve: { alias: mode === 'widget' ? [...ALIAS, WITHOUT_ONNX] : ALIAS },
  test: {
    root: import.meta.dirname,
    include: ['src/**/*.test.ts', '.ci/**/*.test.ts', 'demo/**/*.test.ts'],
    pool: 'forks', // Dawn must not share a process with another test file's device
    maxWorkers: availableParallelism(), // the default leaves one core idle, which of two is half the machine
    sequence: { sequencer: LongestFirst },
    testTimeout: 600_000, // what hangs is found, what is slow is not
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    env: testEnvironment(),
    server: { deps: { inline: ['wgsl_reflect'] } }, // its `main` is CommonJS named .js: take `module`, as bundlers do
  },
}));
