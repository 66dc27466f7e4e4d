// The builds, by mode: the demo (default), the library (dist/library, what npm users import), an empty page around the
// library for e2e; and the tests' transform (vitest). Shaders come in as text through `?raw` in all of them.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin, UserConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import { testEnvironment } from './.ci/machine.mjs';

/** Shaders travel without their comments and indentation. */
const shadersAsCode = (): Plugin => ({
  name: 'shaders-as-code',
  apply: 'build',
  enforce: 'pre',
  load: {
    filter: { id: /\.wgsl\?raw$/ },
    handler(id) {
      const lines = readFileSync(id.replace('?raw', ''), 'utf8').split('\n');
      const code = lines.map((line) => line.replace(/\/\/.*/, '').trim()).filter((line) => line !== '');
      return `export default ${JSON.stringify(code.join('\n'))}`;
    },
  },
});

/** Library builds inline every asset, as base64: 14 MB of WebAssembly stay a file beside the worker instead. */
const runtimeAsFile = (): Plugin => ({
  name: 'onnx-runtime-as-file',
  enforce: 'pre',
  transform: {
    filter: { id: /ort\.wasm\.bundle\.min\.mjs$/ },
    handler(code, id) {
      const name = 'ort-wasm-simd-threaded.wasm';
      const file = this.emitFile({ type: 'asset', name, source: readFileSync(join(dirname(id), name)) });
      return code
        .replaceAll(`new URL("${name}",import.meta.url).href`, `import.meta.ROLLUP_FILE_URL_${file}`)
        .replace(/new (\w+)\("ort\.wasm\.bundle\.min\.mjs",import\.meta\.url\)/g, 'new $1(import.meta.url)'); // itself, under its new name
    },
  },
});

/** What `exports` in package.json names. */
const ENTRIES = {
  index: 'src/index.ts',
  trace: 'src/trace.ts',
  openai: 'src/api/openai.ts',
  'ai-sdk': 'src/api/ai-sdk.ts',
  'prompt-api': 'src/api/prompt-api.ts',
};

/** Chunks run before the entry that imports them: what gives Safari its Symbol.dispose has to be the first of them. */
const FIRST = { name: 'dispose', test: /src\/dispose\.ts$/ };

/** What both sides of a worker's border have: a page whose engine lives in a worker needs no more. */
const BOTH = { name: 'both', test: /src\/(errors|bundled)\.ts$/ };

/** The engine and all that it imports statically: in a dozen chunks it would be a tenth larger. */
const ENGINE = { name: 'engine', test: /src\/engine\.ts$/ };

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

/** A slow machine is no warning. */
const checks = { pluginTimings: false };

type Build = Pick<UserConfig, 'root' | 'publicDir' | 'build'>;

const BUILDS: Readonly<Record<string, Build>> = {
  demo: {
    root: 'demo',
    publicDir: '../public',
    build: { outDir: '../dist/demo', emptyOutDir: true, rolldownOptions: { checks } },
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
};

export default defineConfig(({ mode }) => ({
  ...(BUILDS[mode] ?? BUILDS.demo),
  base: './', // any static host, any folder
  appType: 'mpa', // a missing file is a 404, not the page again
  plugins: [shadersAsCode(), ...(mode === 'library' ? [runtimeAsFile(), workerForBundlers()] : [])],
  worker: {
    format: 'es',
    rolldownOptions: { checks, output: { codeSplitting: CHUNKS } },
    plugins: () => [shadersAsCode(), ...(mode === 'library' ? [runtimeAsFile()] : [])],
  },
  resolve: {
    // transformers.js serves as a tokenizer only. Its ONNX runtime would add 27 MB of WebAssembly that nothing loads; the
    // common package has the same interface and no backend. Ours (src/judge) imports `onnxruntime-web/wasm`.
    alias: [{ find: /^onnxruntime-web(\/webgpu)?$/, replacement: 'onnxruntime-common' }],
  },
  test: {
    root: import.meta.dirname,
    include: ['src/**/*.test.ts', '.ci/**/*.test.ts', 'demo/**/*.test.ts'],
    pool: 'forks', // Dawn must not share a process with another test file's device
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: testEnvironment(),
    server: { deps: { inline: ['wgsl_reflect'] } }, // its `main` is CommonJS named .js: take `module`, as bundlers do
  },
}));
