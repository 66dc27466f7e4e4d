// Before `npm pack` and `npm publish`: builds what the package has and git has not: the library, the widget as one file,
// types, the command line, the licences of what is bundled. Of the types only those stay that an entry point leads to.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root, run, tool } from './steps.mjs';

const types = join(root, 'dist/types');

/** @param {string[]} command */
const must = async (command) => {
  const { code, output } = await run(command);
  if (code === 0) return;
  console.error(output);
  process.exit(code);
};

/** Declarations name their imports as the sources do: ./x.ts for ./x.d.ts. @param {string} file */
const importsOf = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import) ?\(?["'](\.[^"']+)\.ts["']/g)].map(([, path]) =>
    resolve(dirname(file), `${path}.d.ts`),
  );

const prune = () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.values(exports).flatMap((/** @type {{ types?: string }} */ { types }) => types ?? []);
  const reached = new Set(entries.map((entry) => join(root, entry)));
  for (const file of reached) for (const next of importsOf(file)) reached.add(next);
  for (const name of readdirSync(types, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.ts') && !reached.has(join(types, name))) rmSync(join(types, name));
  console.log(`types: ${reached.size} files, ${relative(root, types)}`);
};

/** What `dist` holds of others. onnxruntime-web has no licence file in its package; it is MIT like the repository. */
const BUNDLED = ['@huggingface/tokenizers', 'comlink', 'onnxruntime-web'];

const MIT = `Copyright (c) Microsoft Corporation

${readFileSync(join(root, 'LICENSE'), 'utf8').split('\n\n').slice(2).join('\n\n')}`;

const licences = () => {
  const parts = BUNDLED.map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? readFileSync(join(folder, file), 'utf8') : MIT;
    return `## ${name} ${version} (${license})\n${repository.url ?? repository}\n\n${text.trim()}\n`;
  });
  return `# Licences of what this package bundles\n\n${parts.join('\n')}`;
};

/** `npm test` has built the library and the widget, and checked the types. */
const built = process.env.OUTRIDER_BUILT === '1';

rmSync(types, { recursive: true, force: true });
for (const mode of built ? [] : ['library', 'widget'])
  await must([tool('vite'), 'build', '--mode', mode, '--logLevel', 'warn']);
await must([tool('tsc'), '-p', '.ci/tsconfig.types.json', ...(built ? ['--noCheck'] : [])]);
prune();
await must([process.execPath, 'src/cli/outrider.mjs', '--help']); // builds dist/cli.js
const program = join(root, 'dist/cli.js');
writeFileSync(program, readFileSync(program, 'utf8').replaceAll('../node_modules/onnxruntime-web/dist/', './library/'));
writeFileSync(join(root, 'dist/LICENCES.md'), licences());
