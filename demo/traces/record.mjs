// `npm run record`: writes public/traces/, the runs that the page replays where there is no WebGPU. Held-out problems that
// the bundled target answers right, each by a decoding system and, to compare, plainly; through the command line, on
// whatever device this machine has.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { testEnvironment } from '../../.ci/machine.mjs';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'public/traces');
/** @type {{ question: string, answer: string, result: string }[]} */
const problems = JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8'));

/** A subtraction that the draft gets wrong. */
const HARD = /^Tom has 21 beads/;

/**
 * One recording each, of the first problems that are answered right, or of the one `about` something: a tree wide enough
 * to branch, step routers, and an ensemble of all three models. What is chosen by time is fixed where it can be: the
 * second run has to decide as the first.
 * @type {{ system: string, set?: string[], also?: string[], about?: RegExp, baseline?: string }[]}
 */
const RUNS = [
  { system: 'dflash', set: ['fall-back=off'] },
  { system: 'eagle3', set: ['nodes=20', 'fall-back=off'] },
  { system: 'blockpilot' },
  { system: 'rsd', set: ['inner=dflash'], about: HARD },
  { system: 'arbitrage', set: ['inner=dflash'], about: HARD },
  { system: 'cos', also: ['mid', 'draft'], baseline: 'ensemble' },
];
const TRIES = 4;

/** @param {string} question @param {{ system: string, set?: string[], also?: string[] }} run @param {string[]} more */
const generate = (question, { system, set = [], also = [] }, ...more) => {
  const knobs = [...set.flatMap((knob) => ['--set', knob]), ...also.flatMap((model) => ['--also', model])];
  const command = [
    'src/outrider.mjs',
    'generate',
    '--json',
    '--system',
    system,
    ...knobs,
    ...more,
    '--prompt',
    question,
  ];
  const env = { ...process.env, ...testEnvironment() };
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`generate failed:\n${stderr}`);
  return {
    /** @type {Record<string, any>[]} */
    events: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    device: /^device: ([^·\n]+)/m.exec(stderr)?.[1]?.trim() ?? 'an unnamed device',
  };
};

/**
 * Timed without probabilities, which cost readbacks; they are those of a second run, if it decided the same. (What goes by
 * time, a block size or a fall back, may be decided otherwise.)
 * @param {string} question @param {{ system: string, set?: string[], also?: string[] }} run
 */
const generateTwice = (question, run) => {
  for (let tries = 1; tries <= TRIES; tries++) {
    const { events, device } = generate(question, run);
    const closer = generate(question, run, '--logprobs', '3').events;
    const same = events.every(
      ({ type, tokens }, i) => type === closer[i]?.type && `${tokens}` === `${closer[i]?.tokens}`,
    );
    const joined = events.map((event, i) => {
      const { probabilities, logprobs } = closer[i] ?? {};
      return { ...event, ...(probabilities && { probabilities }), ...(logprobs && { logprobs }) };
    });
    if (same) return { events: joined, device };
    console.log(`${run.system}: the second run decided otherwise`);
  }
  throw new Error(`${run.system}: ${TRIES} times two runs decided otherwise; try on a quieter machine`);
};

const PROBABILITIES = ['logprob', 'target', 'draft', 'r', 'probability', 'committed'];

/** The page folds the metrics itself; probabilities are shown with three digits. @param {string} key @param {unknown} value */
const lean = (key, value) => {
  if (key === 'metrics') return undefined;
  const exact = PROBABILITIES.includes(key) && typeof value === 'number';
  return exact ? Number(value.toPrecision(4)) : value;
};

/** @param {string} file @param {object[]} events */
const write = (file, events) =>
  writeFileSync(join(folder, file), `${events.map((event) => JSON.stringify(event, lean)).join('\n')}\n`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @type {{ file: string, plain: string, system: string, problem: object, device: string }[]} */
const index = [];
for (const run of RUNS) {
  const { system, about } = run;
  const used = index.map(({ problem }) => problem);
  /** @param {typeof problems[number]} problem */
  const fits = (problem) => about?.test(problem.question) ?? !used.includes(problem);
  for (const problem of problems.filter(fits)) {
    const { events, device } = generateTwice(problem.question, run);
    const right = events.at(-1)?.text.includes(`The answer is ${problem.result}.`);
    console.log(`${system}, ${right ? 'right' : 'wrong'}: ${problem.question}`);
    if (!right) continue;
    const number = index.length + 1;
    const entry = { file: `problem-${number}.jsonl`, plain: `problem-${number}-plain.jsonl`, system, problem, device };
    write(entry.file, events);
    write(
      entry.plain,
      generate(problem.question, { ...run, system: run.baseline ?? 'autoregressive', set: [] }).events,
    );
    index.push(entry);
    break;
  }
}
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
