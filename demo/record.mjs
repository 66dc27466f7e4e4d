// `npm run record`: writes public/traces/, the runs that the page replays where there is no WebGPU. Three held-out problems
// that the bundled target answers right, through the command line, on whatever device this machine has.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { testEnvironment } from '../.ci/machine.mjs';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'public/traces');
/** @type {{ question: string, answer: string, result: string }[]} */
const problems = JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8'));

/** @param {string} question */
const generate = (question) => {
  const command = ['src/outrider.mjs', 'generate', '--json', '--prompt', question];
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

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @type {{ file: string, problem: object, device: string }[]} */
const index = [];
for (const problem of problems) {
  const { lines, device } = generate(problem.question);
  const { text } = JSON.parse(lines.at(-1) ?? '{}');
  const right = text.includes(`The answer is ${problem.result}.`);
  console.log(`${right ? 'right' : 'wrong'}: ${problem.question}`);
  if (!right) continue;
  const file = `problem-${index.length + 1}.jsonl`;
  writeFileSync(join(folder, file), `${lines.map(lean).join('\n')}\n`);
  index.push({ file, problem, device });
  if (index.length === 3) break;
}
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
