// The builds, by mode: the demo (default), the library (dist/library, what npm users import), the widget as one file next
// to it, and an empty page around the library for e2e. And the tests' transform (vitest). Shaders come in as text through
// `?raw`, with their includes in place (.ci/wgsl.mjs).
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { UserConfig } from 'vite';
import { configDefaults, defineConfig } from 'vitest/config';
import { apiReference } from './.ci/api-reference.mjs';
import { contentSecurityPolicy } from './.ci/content-security-policy.mjs';
import { documents } from './.ci/documents.mjs';
import { libraryFiles } from './.ci/library-files.mjs';
import { LongestFirst } from './.ci/longest-first.mjs';
import { testEnvironment } from './.ci/machine.mjs';
import { pageHeader } from './.ci/page-header.mjs';
import { shaders } from './.ci/wgsl.mjs';

/** What `exports` in package.json names, and the worker. */
const ENTRIES = {
  index: 'src/index.ts',
  worker: 'src/worker/worker.ts',
  trace: 'src/trace/index.ts',
  widget: 'src/widget/index.ts',
  openai: 'src/api/openai.ts',
  'ai-sdk': 'src/api/ai-sdk.ts',
  'prompt-api': 'src/api/prompt-api.ts',
  'prompt-api-polyfill': 'src/api/prompt-api-polyfill.ts',
};

/** The engine is one chunk. Next to it: what must run first, and what a page needs whose engine is in a worker. */
const CHUNKS = {
  groups: [
    { name: 'dispose', test: /src\/base\/dispose\.ts$/ }, // gives Safari its Symbol.dispose: chunks run before their entry
    {
      name: 'shared',
      test: /src\/(base\/(check-signal|errors|is-object|refuse|shown)|engine\/(built-in|bundled)|weights\/files\/persist)\.ts$/,
    },
    { name: 'facades', test: /src\/text\/(answer-format|message-content)\.ts$/ }, // they read answers and messages too
    { name: 'engine', test: /src\/engine\/engine\.ts$/ },
  ],
};

/** The pages of the demo. */
const PAGES = ['index', 'how', 'benchmark', 'widget']
  .map((name) => join(import.meta.dirname, `demo/${name}.html`))
  .filter((page) => existsSync(page));

/** A slow machine is no warning. */
const checks = { pluginTimings: false };

type Build = Pick<UserConfig, 'root' | 'publicDir' | 'build' | 'plugins'>;

const BUILDS: Readonly<Record<string, Build>> = {
  demo: {
    root: 'demo',
    publicDir: '../public',
    plugins: [pageHeader(), contentSecurityPolicy(), apiReference(), documents()],
    build: { outDir: '../dist/demo', emptyOutDir: true, rolldownOptions: { input: PAGES, checks } },
  },
  harness: {
    root: 'e2e/harness',
    publicDir: '../../public',
    build: {
      outDir: '../../dist/harness',
      emptyOutDir: true,
      chunkSizeWarningLimit: 1000,
      rolldownOptions: { checks },
    },
  },
  library: {
    root: import.meta.dirname,
    publicDir: false,
    plugins: [libraryFiles()],
    build: {
      outDir: 'dist/library',
      lib: { entry: ENTRIES, formats: ['es'] },
      rolldownOptions: { external: ['webgpu'], checks, output: { minify: true, codeSplitting: CHUNKS } },
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

/** The runtime that transformers.js asks for, which the benchmark compares with; ours is a released one. */
const peer = createRequire(join(import.meta.dirname, 'node_modules/@huggingface/transformers/package.json'));
const ALIAS = [
  { find: /^peer-runtime\.wasm/, replacement: peer.resolve('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm') },
];

const WITHOUT_ONNX = {
  find: /^onnxruntime-web\/(wasm|jspi)$/,
  replacement: join(import.meta.dirname, 'src/widget/without-onnx.ts'),
};

const WITHOUT_GRAMMAR = {
  find: /^@mlc-ai\/web-xgrammar$/,
  replacement: join(import.meta.dirname, 'src/widget/without-grammar.ts'),
};

/** The widget follows the page's colour scheme by `light-dark()`, which older targets would have replaced by variables. */
const CSS_TARGET = ['chrome123', 'firefox120', 'safari17.5'];

/**
 * Tests that compile many shaders and run each a few times. LLVM's optimizer takes longer there than what it saves, so
 * lavapipe leaves it out. Of tests of whole models most run long and are slower without it (docs/log/page-and-tests.md).
 */
const COMPILING = [
  'src/kernels/**/*.test.ts',
  'src/model/golden.test.ts',
  'src/model/family-shapes.test.ts',
  'src/model/load/batch-invariance.test.ts',
  'src/model/load/load-drafter.test.ts',
  'src/cli/commands/{generate,logits}.test.ts',
];

/**
 * Tests that never open a device and replace no module: one process after the other takes them all, where a process for
 * each file starts for half a second and imports the same again. Those of folders that open one now and then are named,
 * or those that do. The contracts on toys have a process each, because they run long.
 */
const PURE = [
  'src/{base,catalogue,decode,model/families,systems,text,trace,weights,widget}/**/*.test.ts',
  'src/api/!(ai-sdk|openai|prompt-api).test.ts',
  'src/cli/{arguments,begun-run,knob-options,model-source,paint,parse-messages}.test.ts',
  'src/cli/bench/*.test.ts',
  'src/constraint/!(schema-suite).test.ts',
  'src/engine/{answer,bundled,calibrate,check-request,engine,messages}.test.ts',
  'src/engine/load/{sidecar,vocabulary}.test.ts',
  'src/gpu/struct.test.ts',
  'src/model/{forward/rope-table,load/config.fuzz}.test.ts',
  'src/remote/!(llama).test.ts',
  'src/testing/contract/{constraint-outcomes,old-names}.test.ts',
  '{demo,.ci}/**/*.test.ts',
];

const WITHOUT_DEVICE = { find: /^webgpu$/, replacement: join(import.meta.dirname, '.ci/without-device.mjs') };

const compilingEnvironment = process.env.OUTRIDER_FULL === '1' ? {} : { GALLIVM_PERF: 'nopt' };

const buildFor = (mode: string): Build => BUILDS[mode] ?? (BUILDS.demo as Build);

export default defineConfig(({ mode }) => ({
  ...buildFor(mode),
  build: { ...buildFor(mode).build, cssTarget: CSS_TARGET },
  base: './', // any static host, any folder
  appType: 'mpa', // a missing file is a 404, not the page again
  plugins: [shaders(), ...(buildFor(mode).plugins ?? [])],
  worker: {
    format: 'es',
    rolldownOptions: { checks, output: { codeSplitting: CHUNKS } },
    plugins: () => [shaders()],
  },
  resolve: { alias: mode === 'widget' ? [...ALIAS, WITHOUT_ONNX, WITHOUT_GRAMMAR] : ALIAS },
  test: {
    root: import.meta.dirname,
    setupFiles: ['src/testing/typed-arrays.ts'],
    projects: [
      { extends: true, test: { name: 'compiling', include: COMPILING, env: compilingEnvironment } },
      {
        extends: true,
        test: {
          name: 'running',
          include: ['{src,.ci,demo}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...COMPILING, ...PURE],
        },
      },
      {
        extends: true,
        resolve: { alias: [WITHOUT_DEVICE] },
        test: { name: 'pure', include: PURE, isolate: false, restoreMocks: true, unstubGlobals: true },
      },
    ],
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
