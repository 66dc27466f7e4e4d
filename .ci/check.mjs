// `npm run check`: everything that can be known without running a model. About half a minute.
import { pathToFileURL } from 'node:url';
import { findPython } from './machine.mjs';
import { runSteps, skip, tool } from './steps.mjs';

/** The shader tests need a real adapter, yet belong here: a shader that does not compile is a type error. */
export const SHADER_TESTS = 'src/kernels/shaders.test.ts';

export const check = () => {
  const python = findPython('ruff');
  if (!python) skip('ruff over training/', 'ruff is not installed (pip install ruff)');
  return runSteps([
    [
      { name: 'library build', command: [tool('vite'), 'build', '--mode', 'library', '--logLevel', 'warn'] },
      { name: 'widget build', command: [tool('vite'), 'build', '--mode', 'widget', '--logLevel', 'warn'] },
      { name: 'bundle budget (size-limit)', command: [tool('size-limit')] },
    ],
    [
      { name: 'demo build', command: [tool('vite'), 'build', '--logLevel', 'warn'] },
      { name: 'harness build (e2e)', command: [tool('vite'), 'build', '--mode', 'harness', '--logLevel', 'warn'] },
    ],
    [{ name: 'shaders compile and match their wrappers', command: [tool('vitest'), 'run', SHADER_TESTS] }],
    [{ name: 'types (tsc)', command: [tool('tsc'), '--noEmit'] }],
    [
      {
        name: 'lint, format, import cycles, layers (biome)',
        command: [tool('biome'), 'ci', '--error-on-warnings', '--colors=off'],
      },
    ],
    [{ name: 'dead code and dependencies (knip)', command: [tool('knip')] }],
    [{ name: 'API reference: every public name is explained (typedoc)', command: [tool('typedoc'), '--emit', 'none'] }],
    [{ name: 'words, documents, links, figures from results (prose)', command: [process.execPath, '.ci/prose.mjs'] }],
    [{ name: 'lockfile is complete', command: [process.execPath, '.ci/lockfile.mjs'] }],
    ...(python ? [[{ name: 'ruff over training/', command: [python, '-m', 'ruff', 'check', 'training'] }]] : []),
  ]);
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { passed, failed } = await check();
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
