// Shaders name the texts that they need, `#include "../include/rows.wgsl"`, by a path relative to the file that says
// it. This plugin puts each of those texts in the line's place, once a shader, wherever a module imports `x.wgsl?raw`.
// WGSL itself has no includes. Plain JavaScript, because src/cli/outrider.mjs builds with it on Node 20.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

const INCLUDE = /^#include "([^"]+)"\s*$/;

/** @param {string} file */
const named = (file) => relative(process.cwd(), file);

/**
 * Structs are generated from kernels, and kernels import shaders: the file of a new struct has to be there first.
 * @param {string} file
 */
const hintFor = (file) =>
  file.includes('/include/structs/')
    ? '; before a shader includes a new struct, write its file: npx vitest run src/kernels/shaders.test.ts -u'
    : '';

/**
 * The parts of a file between its includes: part 0 ends at the first of them.
 * @param {string} file
 * @returns {{ parts: readonly string[], includes: readonly { path: string, place: string }[] }}
 */
const partsOf = (file) => {
  /** @type {string[][]} */
  const parts = [[]];
  const includes = [];
  for (const [i, line] of readFileSync(file, 'utf8').trimEnd().split('\n').entries()) {
    if (!line.startsWith('#')) {
      parts.at(-1)?.push(line);
      continue;
    }
    const place = `${named(file)}:${i + 1}`;
    const [, include] = INCLUDE.exec(line) ?? [];
    if (!include) throw new Error(`${place}: "${line}" is no include; write #include "path/to/file.wgsl"`);
    includes.push({ path: resolve(dirname(file), include), place });
    parts.push([]);
  }
  return { parts: parts.map((lines) => lines.join('\n')), includes };
};

/**
 * A shader with all that it includes: its text, the parts that make it, and the files that they come from, itself first.
 * @param {string} path
 * @returns {{ text: string, files: readonly string[], parts: readonly { file: string, index: number, text: string }[] }}
 */
export const expandShader = (path) => {
  /** @type {Set<string>} */
  const files = new Set();
  /** @type {{ file: string, index: number, text: string }[]} */
  const all = [];
  /** @param {string} file @param {readonly string[]} open The files that include this one. */
  const expand = (file, open) => {
    files.add(file);
    const { parts, includes } = partsOf(file);
    for (const [index, text] of parts.entries()) {
      all.push({ file, index, text });
      const include = includes[index];
      if (!include) continue;
      const { path: wanted, place } = include;
      if (!existsSync(wanted)) throw new Error(`${place}: there is no ${named(wanted)}${hintFor(wanted)}`);
      const around = [...open, file];
      if (around.includes(wanted)) {
        const cycle = [...around.slice(around.indexOf(wanted)), wanted].map(named);
        throw new Error(`${place}: the includes form a cycle: ${cycle.join(' → ')}`);
      }
      if (!files.has(wanted)) expand(wanted, around);
    }
  };
  expand(resolve(path), []);
  const parts = all.filter(({ text }) => text !== '');
  return { text: `${parts.map(({ text }) => text).join('\n')}\n`, files: [...files], parts };
};

/** Without comments and indentation. @param {string} text */
export const asCode = (text) =>
  text
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, '').trim())
    .filter((line) => line !== '')
    .join('\n');

/** A file's parts by index, as code. @param {string} file */
const codeParts = (file) => partsOf(file).parts.map(asCode);

/**
 * The module of a shader in a build: a text that several shaders include is a module of its own, so that the bundle has
 * it once.
 * @param {string} path
 */
export const shaderModule = (path) => {
  const { parts, files } = expandShader(path);
  const [own, ...included] = files;
  const lines = included.map((file, i) => `import f${i} from ${JSON.stringify(`${file}?parts`)};`);
  const texts = parts
    .filter(({ text }) => asCode(text) !== '')
    .map(({ file, index, text }) =>
      file === own ? JSON.stringify(asCode(text)) : `f${included.indexOf(file)}[${index}]`,
    );
  return `${lines.join('\n')}\nexport default [${texts.join(', ')}].join('\\n')`;
};

/**
 * Builds leave out comments and indentation; the development server and the tests keep them.
 * @returns {import('vite').Plugin}
 */
export const shaders = () => {
  let build = false;
  return {
    name: 'wgsl-includes',
    enforce: 'pre',
    configResolved: ({ command }) => {
      build = command === 'build';
    },
    resolveId: { filter: { id: /\.wgsl\?parts$/ }, handler: (id) => id },
    load: {
      filter: { id: /\.wgsl\?((.*&)?raw\b|parts$)/ },
      handler(id) {
        const path = /** @type {string} */ (id.split('?')[0]);
        if (id.endsWith('?parts')) return `export default ${JSON.stringify(codeParts(path))}`;
        const { text, files } = expandShader(path);
        for (const file of files) this.addWatchFile(file);
        return build ? shaderModule(path) : `export default ${JSON.stringify(text)}`;
      },
    },
  };
};
