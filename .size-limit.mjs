// What a page, and what its worker, have to fetch before anything runs: a script and all that it imports statically. Chunks
// that are imported when they are needed (drafters, ensembles, routers, the tokenizer, the ONNX runtime) are no part of it.
// The widget's single file has them all but the ONNX runtime: 120 kB of it are the tokenizer library.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY = 'dist/library';

/** `from"./chunk.js"` and `import"./chunk.js"`, as the build writes them; `import("./chunk.js")` is fetched later. */
const STATIC = /(?:\bfrom|\bimport)\s*"(\.{1,2}\/[^"]+\.js)"/g;

/** @param {string} file @param {Set<string>} seen @returns {string[]} */
const withImports = (file, seen = new Set()) => {
  if (seen.has(file)) return [];
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(STATIC)) withImports(join(file, '..', path), seen);
  return [...seen];
};

const worker = readdirSync(join(LIBRARY, 'assets')).find((name) => /^worker-.*\.js$/.test(name));
if (!worker) throw new Error(`${LIBRARY} has no worker: build the library first`);

const gzip = { gzip: true, brotli: false };
const budget = { ...gzip, limit: '60 kB' };

export default [
  { name: 'the engine on a page', path: withImports(join(LIBRARY, 'index.js')), ...budget },
  { name: 'the engine in its worker', path: withImports(join(LIBRARY, 'assets', worker)), ...budget },
  { name: 'the widget, bundled by its page', path: withImports(join(LIBRARY, 'widget.js')), ...gzip, limit: '15 kB' },
  { name: 'the widget as one file', path: join(LIBRARY, 'outrider-chat.js'), ...gzip, limit: '270 kB' },
];
