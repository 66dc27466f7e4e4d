// The examples of README, guide and recipes compile as they are pasted: each is a file of its own, under TypeScript's strict
// settings, against the sources that the package's types are made of. Those with an ellipsis are to be completed, and
// those with relative imports belong into the repository.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from './steps.mjs';

interface Example {
  /** Such as `docs/guide/tools.md:7`. */
  readonly name: string;
  readonly code: string;
}

const PAGES = ['README.md', 'docs/remote.md', 'docs/guide', 'docs/recipes'].flatMap((page) =>
  page.endsWith('.md') ? [page] : readdirSync(join(root, page)).map((name) => `${page}/${name}`),
);

const examplesOf = (path: string): readonly Example[] => {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/^```(?:js|ts|jsx|tsx)\n([\s\S]*?)^```$/gm)].flatMap(({ 1: code = '', index }) =>
    code.includes('…') || /from '\.\.?\//.test(code)
      ? []
      : [{ name: `${path}:${text.slice(0, index).split('\n').length}`, code }],
  );
};

/** What the package's exports are compiled from. */
const entries = (): ts.MapLike<string[]> => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries<{ types?: string }>(exports).flatMap(([name, { types }]) =>
      types
        ? [[`outrider${name.slice(1)}`, [join(root, types.replace('dist/types', 'src').replace('.d.ts', '.ts'))]]]
        : [],
    ),
  );
};

const complaintsAbout = (examples: readonly Example[]): readonly string[] => {
  const files = new Map(examples.map((example, i) => [join(root, `example-${i}.tsx`), example]));
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    moduleDetection: ts.ModuleDetectionKind.Force,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: ['@webgpu/types', 'vite/client', 'node'], // the sources' own
    jsx: ts.JsxEmit.ReactJSX,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    paths: entries(),
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, ...how) => {
    const example = files.get(path);
    return example ? ts.createSourceFile(path, example.code, ts.ScriptTarget.ESNext) : getSourceFile(path, ...how);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([path, { name }]) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  });
};

it('the examples compile as they are pasted, and one that does not is named', () => {
  const examples = PAGES.flatMap(examplesOf);
  expect(examples.length).toBeGreaterThan(15);
  const wrong = "import { connect } from 'outrider';\nawait connect().load({ target: 'draft' }, { precision: 'q5' });";
  const found = complaintsAbout([...examples, { name: 'wrong', code: wrong }]);
  expect(found).toEqual([expect.stringMatching(/^wrong: Type '"q5"' is not assignable to type/)]);
});
