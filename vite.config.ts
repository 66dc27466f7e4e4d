// Three builds from one configuration: the demo (default), the library (`--mode library`: dist/library, what npm users
// import), and the tests' transform (vitest). Shaders come in as text through `?raw` in all of them.
import { defineConfig } from 'vitest/config';
import { testEnvironment } from './.ci/machine.mjs';

/** Loaded when they are needed: the tokenizer (and the ONNX runtime behind it), and Dawn, which only Node has. */
const LAZY = ['@huggingface/transformers', 'webgpu'];

export default defineConfig(({ mode }) => ({
  root: mode === 'library' ? import.meta.dirname : 'demo',
  base: './', // any static host, any folder
  appType: 'mpa', // a missing file is a 404, not the page again
  publicDir: mode === 'library' ? false : '../public',
  worker: { format: 'es' },
  resolve: {
    // transformers.js serves as a tokenizer only. Its ONNX runtime would add 27 MB of WebAssembly that nothing loads; the
    // common package has the same interface and no backend.
    alias: [{ find: /^onnxruntime-web(\/webgpu)?$/, replacement: 'onnxruntime-common' }],
  },
  build:
    mode === 'library'
      ? {
          outDir: 'dist/library',
          target: 'es2023',
          lib: { entry: { index: 'src/index.ts', trace: 'src/trace.ts', worker: 'src/worker.ts' }, formats: ['es'] },
          rolldownOptions: { external: LAZY },
        }
      : { outDir: '../dist/demo', emptyOutDir: true, target: 'es2023' },
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
