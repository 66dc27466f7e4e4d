// `npm run record`: writes public/traces/, the runs that the page replays where there is no WebGPU. Held-out problems that
// the bundled target answers right, each by a decoding system and, to compare, plainly; through the command line, on
// whatever device this machine has.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { testEnvironment } from '../.ci/machine.mjs';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'public/traces');
/** @type {{ question: string, answer: string, result: string }[]} */
const problems = JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8'));

/** One recording each; a tree wide enough to branch. */
const RUNS = [{ system: 'dflash' }, { system: 'eagle3', set: 'nodes=20' }, { system: 'blockpilot' }];

/** @param {string} question @param {{ system: string, set?: string }} run */
const generate = (question, { system, set }) => {
  const knobs = set ? ['--set', set] : [];
  const command = ['src/outrider.mjs', 'generate', '--json', '--system', system, ...knobs, '--prompt', question];
  const env = { ...process.env, ...testEnvironment() };
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`generate failed:\n${stderr}`);
  return {
    lines: stdout.trim().split('\n'),
    device: /^device: ([^·\n]+)/m.exec(stderr)?.[1]?.trim() ?? 'an unnamed device',
  };
};

/** The page folds the metrics itself. @param {string} line */
const lean = (line) => JSON.stringify(JSON.parse(line), (key, value) => (key === 'metrics' ? undefined : value));

/** @param {string} file @param {string[]} lines */
const write = (file, lines) => writeFileSync(join(folder, file), `${lines.map(lean).join('\n')}\n`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @type {{ file: string, plain: string, system: string, problem: object, device: string }[]} */
const index = [];
for (const problem of problems) {
  const run = RUNS[index.length];
  if (!run) break;
  const { system } = run;
  const { lines, device } = generate(problem.question, run);
  const { text } = JSON.parse(lines.at(-1) ?? '{}');
  const right = text.includes(`The answer is ${problem.result}.`);
  console.log(`${system}, ${right ? 'right' : 'wrong'}: ${problem.question}`);
  if (!right) continue;
  const number = index.length + 1;
  const entry = { file: `problem-${number}.jsonl`, plain: `problem-${number}-plain.jsonl`, system, problem, device };
  write(entry.file, lines);
  write(entry.plain, generate(problem.question, { system: 'autoregressive' }).lines);
  index.push(entry);
}
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
