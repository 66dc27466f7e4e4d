#!/usr/bin/env node
// Starts the command line. In a published package that is dist/cli.js; in a checkout the bundle is built first when a
// source has changed (Node 20 runs neither TypeScript nor `?raw` imports). Plain JavaScript, node builtins only, so
// that an unchanged checkout pays a few milliseconds.
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const bundle = join(root, 'dist/cli.js');

/**
 * A line that changes whenever a file that goes into the bundle does; it becomes the bundle's first line.
 * @param {string[]} folders
 */
const stampOf = (folders) => {
  const hash = createHash('sha1');
  for (const folder of folders)
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(ts|mjs|wgsl|json)$/.test(file) || /\.test\.ts$/.test(file)) continue;
      const { mtimeMs, size } = statSync(join(root, folder, file));
      hash.update(`${folder}/${file} ${mtimeMs} ${size}\n`);
    }
  return `// built from ${hash.digest('hex')}\n`;
};

/** @param {string} stamp */
const isFresh = (stamp) => {
  if (!existsSync(bundle)) return false;
  const file = openSync(bundle, 'r');
  const start = Buffer.alloc(stamp.length);
  readSync(file, start, 0, stamp.length, 0);
  closeSync(file);
  return start.toString('latin1') === stamp;
};

/**
 * The ONNX runtime stays a file next to its WebAssembly. In a package it is the library's (.ci/package.mjs).
 * @type {import('vite').Plugin}
 */
const onnxRuntime = {
  name: 'onnx-runtime',
  enforce: 'pre',
  resolveId(id) {
    const [, build] = /^onnxruntime-web\/(wasm|jspi)$/.exec(id) ?? [];
    return build ? { id: `../node_modules/onnxruntime-web/dist/ort.${build}.bundle.min.mjs`, external: true } : null;
  },
};

/**
 * One file, moved into place whole: programs started at the same time each find a complete bundle, old or new.
 * @param {string} stamp
 */
const build = async (stamp) => {
  const { build: viteBuild } = await import('vite');
  const { shaders } = await import('../../.ci/wgsl.mjs'); // only a checkout has it
  mkdirSync(join(root, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(root, 'dist/cli-'));
  try {
    await viteBuild({
      root,
      configFile: false,
      publicDir: false,
      logLevel: 'error',
      plugins: [shaders(), onnxRuntime],
      ssr: { noExternal: true, external: ['webgpu'] },
      build: {
        ssr: 'src/cli/program.ts',
        target: 'node20',
        outDir: folder,
        rolldownOptions: { output: { codeSplitting: false, banner: stamp.trimEnd(), entryFileNames: 'cli.js' } },
      },
    });
    renameSync(join(folder, 'cli.js'), bundle);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

if (existsSync(join(root, 'src/cli/program.ts'))) {
  const stamp = stampOf(['src', 'shaders', '.ci']);
  if (!isFresh(stamp))
    await build(stamp).catch((error) => {
      console.error(`outrider: the command line does not build: ${error.message}`);
      process.exit(1);
    });
}
// npm runs a script in the project's folder: file names on the command line mean the folder the person stood in.
if (process.env.npm_lifecycle_event === 'outrider' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);

const { main } = await import(bundle);
process.exitCode = await main(process.argv.slice(2), { root });
