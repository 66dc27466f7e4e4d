// Files that the library ships as they are, next to its chunks, which import them by name. Vite's library mode would inline
// the ONNX runtime's WebAssembly as base64: 14 MB, and 17 MB for WebGPU. Its runtime can be bundled again when
// https://github.com/vitejs/vite/issues/4454 is closed. Vite also rewrites `new Worker(new URL(…))` into a form that the
// bundlers of the library's users do not recognise, so the file with that line stays outside the bundle too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

/**
 * The runtime as its makers publish it: it looks for its WebAssembly next to itself, and in Node for the .mjs too.
 * @param {string} name
 */
const onnxRuntime = (name) => {
  const folder = join(root, 'node_modules/onnxruntime-web/dist');
  const build = `ort-wasm-simd-threaded${name === 'wasm' ? '' : `.${name}`}`;
  return [`ort.${name}.bundle.min.mjs`, `${build}.wasm`, `${build}.mjs`].map((file) => ({
    name: file,
    source: () => readFileSync(join(folder, file)),
  }));
};

/** The line that starts the worker: plain JavaScript, but for the name of the worker's file. */
const startWorker = () => ({
  name: 'start-worker.js',
  source: () => readFileSync(join(root, 'src/worker/start-worker.ts'), 'utf8').replaceAll('./worker.ts', './worker.js'),
});

/** What is imported, and the files that are shipped for it, the imported one first. */
const FILES = {
  '/start-worker.ts': [startWorker()], // from whichever folder
  'onnxruntime-web/wasm': onnxRuntime('wasm'),
  'onnxruntime-web/jspi': onnxRuntime('jspi'),
};

/** @returns {import('vite').Plugin} */
export const libraryFiles = () => ({
  name: 'library-files',
  enforce: 'pre',
  resolveId(id) {
    const [, files] =
      Object.entries(FILES).find(([name]) => (name.startsWith('/') ? id.endsWith(name) : id === name)) ?? [];
    const [imported, ...others] = files ?? [];
    if (!imported) return null;
    for (const { name, source } of [imported, ...others])
      this.emitFile({ type: 'asset', fileName: name, source: source() });
    return { id: `./${imported.name}`, external: true };
  },
});
