// The layer rule is only as good as the violations it catches: in a copy of the configuration, each wrong line must be
// refused, and the right one next to it not.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root, tool } from './steps.mjs';

const CASES = [
  [
    'src/systems',
    "import { Cursor } from '../model/cache/cursor.ts';",
    "import type { Cursor } from '../model/interface.ts';",
  ],
  [
    'src/systems',
    "import type { Gpu } from '../gpu/device.ts';",
    "import { verify } from '../decode/speculative/speculate.ts';",
  ],
  ['src/decode/core', "import all from '../../systems/index.ts';", "import { fold } from '../../trace/index.ts';"],
  ['src/gpu', "import { matmul } from '../kernels/matmul/matmul.ts';", "import { toFault } from '../base/errors.ts';"],
  [
    'src/kernels/norm',
    "import { Executor } from '../../model/forward/executor.ts';",
    "import { Plan } from '../../gpu/plan.ts';",
  ],
  [
    'src/model/load',
    "import x from '../../systems/index.ts';",
    "import { matmul } from '../../kernels/matmul/matmul.ts';",
  ],
  ['src/model/families', "import { connect } from '../../index.ts';", "import { x } from '../architecture.ts';"],
  ['src/weights', "import { Gpu } from '../gpu/device.ts';", "import { toFault } from '../base/errors.ts';"],
  ['src/text', "import { createEngine } from '../engine/engine.ts';", "import { x } from '../weights/checkpoint.ts';"],
  ['src/trace', "import { toFault } from '../base/errors.ts';", "import { fold } from './events.ts';"],
  ['src/trace/metrics', "import { toFault } from '../../base/errors.ts';", "import { fold } from '../fold.ts';"],
  ['src/base', "import { fold } from '../trace/index.ts';", "import { toFault } from './errors.ts';"],
  ['demo', "import { connect } from '../src/worker/connect.ts';", "import { connect } from '../src/index.ts';"],
  [
    'demo/run',
    "import { connect } from '../../src/worker/client.ts';",
    "import { connect } from '../../src/index.ts';",
  ],
  [
    'demo/chat',
    "import { answer } from '../../src/api/completion.ts';",
    "import { withinContext } from '../../src/api/context-window.ts';",
  ],
  [
    'demo/benchmark/queue',
    "import { compare } from '../../../src/cli/bench/compare.ts';",
    "import { summarise } from '../../../src/cli/bench/report.ts';",
  ],
  ['src', 'export const gpu = navigator.gpu;', 'export const storage = navigator.storage;'],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'outrider-layers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const put = (path: string, line: string): void => {
  mkdirSync(join(folder, dirname(path)), { recursive: true });
  writeFileSync(join(folder, path), `${line}\n`);
};

test('the layer rule refuses what it should, and nothing else', () => {
  for (const name of ['biome.json', '.ci/types-only.grit', '.ci/only-gpu.grit'])
    cpSync(join(root, name), join(folder, name));
  CASES.forEach(([place, wrong, right], i) => {
    put(`${place}/wrong-${i}.ts`, wrong);
    put(`${place}/right-${i}.ts`, right);
  });
  put('src/trace/index.ts', "export { fold } from './fold.ts';");
  const args = ['lint', '--vcs-enabled=false', '--colors=off', '--max-diagnostics=none'];
  const { stdout, stderr } = spawnSync(tool('biome'), args, { cwd: folder, encoding: 'utf8' });
  const refused = [...(stdout + stderr).matchAll(/^(\S+\.ts):\d+:\d+ (?:plugin|lint\/style\/noRestrictedImports)/gm)];
  const expected = CASES.map(([place], i) => `${place}/wrong-${i}.ts`);
  expect([...new Set(refused.map(([, path]) => path))].sort()).toEqual(expected.sort());
});
