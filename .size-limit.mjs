// What a page and its worker fetch before anything runs: a script and all that it imports statically. The engine is one
// chunk (docs/decisions/0017); the tokenizer library and the ONNX runtime are loaded on demand and do not count here. The
// widget's single file has the engine and the tokenizer library (31 kB), without the ONNX runtime.
import { readFileSync } from 'node:fs';
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

const gzip = { gzip: true, brotli: false };
const engine = { ...gzip, limit: '234 kB' };

export default [
  { name: 'the engine on a page', path: withImports(join(LIBRARY, 'index.js')), ...engine },
  { name: 'the engine in its worker', path: withImports(join(LIBRARY, 'worker.js')), ...engine },
  { name: 'the widget, bundled by its page', path: withImports(join(LIBRARY, 'widget.js')), ...gzip, limit: '19.7 kB' },
  { name: 'the widget as one file', path: join(LIBRARY, 'outrider-chat.js'), ...gzip, limit: '274 kB' },
];
