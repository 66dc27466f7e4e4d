// The builds, by mode: the demo (default), the library (dist/library, what npm users import), an empty page around the
// library for e2e; and the tests' transform (vitest). Shaders come in as text through `?raw` in all of them.
import type { UserConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import { testEnvironment } from './.ci/machine.mjs';

/** Loaded when they are needed: the tokenizer (and the ONNX runtime behind it), and Dawn, which only Node has. */
const LAZY = ['@huggingface/transformers', 'webgpu'];

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
      lib: { entry: { index: 'src/index.ts', trace: 'src/trace.ts' }, formats: ['es'] },
      rolldownOptions: { external: LAZY, checks },
    },
  },
};

export default defineConfig(({ mode }) => ({
  ...(BUILDS[mode] ?? BUILDS.demo),
  base: './', // any static host, any folder
  appType: 'mpa', // a missing file is a 404, not the page again
  worker: { format: 'es', rolldownOptions: { checks } },
  resolve: {
    // transformers.js serves as a tokenizer only. Its ONNX runtime would add 27 MB of WebAssembly that nothing loads; the
    // common package has the same interface and no backend.
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
