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
 * A shader with all that it includes, and the files that it was made of, itself first.
 * @param {string} path
 * @returns {{ text: string, files: readonly string[] }}
 */
export const expandShader = (path) => {
  /** @type {Set<string>} */
  const files = new Set();
  /** @param {string} file @param {readonly string[]} open The files that include this one. @returns {string} */
  const expand = (file, open) => {
    files.add(file);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const expanded = lines.flatMap((line, i) => {
      if (!line.startsWith('#')) return [line];
      const place = `${named(file)}:${i + 1}`;
      const [, include] = INCLUDE.exec(line) ?? [];
      if (!include) throw new Error(`${place}: "${line}" is no include; write #include "path/to/file.wgsl"`);
      const wanted = resolve(dirname(file), include);
      if (!existsSync(wanted)) throw new Error(`${place}: there is no ${named(wanted)}${hintFor(wanted)}`);
      const around = [...open, file];
      if (around.includes(wanted)) {
        const cycle = [...around.slice(around.indexOf(wanted)), wanted].map(named);
        throw new Error(`${place}: the includes form a cycle: ${cycle.join(' → ')}`);
      }
      return files.has(wanted) ? [] : [expand(wanted, around)];
    });
    return expanded.join('\n');
  };
  const text = `${expand(resolve(path), [])}\n`;
  return { text, files: [...files] };
};

/** Without comments and indentation. @param {string} text */
const asCode = (text) =>
  text
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, '').trim())
    .filter((line) => line !== '')
    .join('\n');

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
    load: {
      filter: { id: /\.wgsl\?(.*&)?raw\b/ },
      handler(id) {
        const { text, files } = expandShader(/** @type {string} */ (id.split('?')[0]));
        for (const file of files) this.addWatchFile(file);
        return `export default ${JSON.stringify(build ? asCode(text) : text)}`;
      },
    },
  };
};
