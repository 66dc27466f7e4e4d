// `npm run record`: writes public/traces/, the runs that the page replays where there is no WebGPU. Each is a held-out
// problem that the bundled target answers correctly, run by one decoding system and by its baseline on this machine's
// device. Every run is made once before it is timed, because a first run compiles its shaders; of five more the one
// with the median time is kept.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createServer } from 'vite';
import { testEnvironment } from '../../.ci/machine.mjs';
import { shaders } from '../../.ci/wgsl.mjs';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'public/traces');
/** @type {{ question: string, answer: string, result: string }[]} */
const problems = JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8'));

/** The draft model gets a subtraction of this problem wrong. */
const HARD = /^Tom has 21 beads/;
/** EAGLE-3 guesses two digits of its second line wrong at first, and right at second. */
const SECOND_GUESS = /^Ida has 21 shells/;
/** The two smaller models get a subtraction of this problem wrong, and the target outvotes them. */
const VOTED = /^Ida has 48 pens/;

/**
 * One recording each, of the first problem that is answered correctly and matches `about`, if given. `models`: bundled
 * models by role. Choices that depend on timing are switched off if possible: a second run must decide the same.
 * `alone`: the draft's own answer is recorded too, to show what a judge that accepts everything would let pass.
 * @typedef {{ system: string, knobs?: object, models: Record<string, string>, about?: RegExp, baseline?: string, alone?: true }} Run
 * @type {Run[]}
 */
const RUNS = [
  { system: 'dflash', knobs: { 'fall-back': 'off' }, models: { dflash: 'dflash' } },
  { system: 'eagle3', knobs: { nodes: 20, 'fall-back': 'off' }, models: { eagle3: 'eagle3' }, about: SECOND_GUESS },
  { system: 'blockpilot', models: { dflash: 'dflash', policy: 'blockpilot' } },
  {
    system: 'rsd',
    knobs: { inner: 'dflash' },
    models: { draft: 'draft', prm: 'prm', dflash: 'dflash' },
    about: HARD,
    alone: true,
  },
  {
    system: 'arbitrage',
    knobs: { inner: 'dflash' },
    models: { draft: 'draft', router: 'router', dflash: 'dflash' },
    about: HARD,
  },
  { system: 'cos', models: { 'also-1': 'mid', 'also-2': 'draft' }, about: VOTED, baseline: 'ensemble' },
];
const TRIES = 4;
const TIMED = 5;
/** The committed token and three alternatives. */
const LOGPROBS = 4;

Object.assign(process.env, testEnvironment());
const vite = await createServer({
  root,
  configFile: false,
  appType: 'custom',
  oxc: { target: 'node20' },
  plugins: [shaders()],
  server: { middlewareMode: true, ws: false },
});
/** @param {string} file @returns {Promise<any>} */
const source = (file) => vite.ssrLoadModule(join(root, 'src', file));
const { createEngine } = await source('engine/engine.ts');
const { openNodeGpu } = await source('gpu/node.ts');
const { committedTokens } = await source('trace/index.ts');
const { folderSource } = await source('weights/files/folder.ts');

const gpu = await openNodeGpu();
const device = gpu.info.description || gpu.info.device || gpu.info.vendor || 'an unnamed device';

/** @param {Run} run */
const engineFor = async ({ models }) => {
  const engine = createEngine({ gpu });
  const roles = Object.entries({ target: 'target', ...models });
  const sources = await Promise.all(
    roles.map(async ([role, name]) => [role, await folderSource(join(root, 'public/models', name))]),
  );
  await engine.load(Object.fromEntries(sources));
  return engine;
};

/**
 * @param {any} engine @param {string} question @param {{ system: string, knobs?: object, models?: object, logprobs?: number }} asked
 * @returns {Promise<Record<string, any>[]>}
 */
const answer = async (engine, question, { models, ...how }) => {
  /** @type {Record<string, any>[]} */
  const events = [];
  const prompt = { messages: [{ role: 'user', content: question }] };
  const names = { target: 'target', ...models };
  for await (const event of engine.run({ prompt, ...how, fresh: true }))
    events.push(event.type === 'run' ? { ...event, models: names } : event);
  const last = events.at(-1);
  return [...events.slice(0, -1), { ...last, tokens: committedTokens(events) }];
};

/** The run with the median time. @type {typeof answer} */
const medianAnswer = async (engine, question, how) => {
  await answer(engine, question, how);
  const runs = [];
  for (let i = 0; i < TIMED; i++) runs.push(await answer(engine, question, how));
  return runs.toSorted((a, b) => a.at(-1)?.at - b.at(-1)?.at)[(TIMED - 1) / 2] ?? [];
};

/**
 * Times a run without probabilities, which cost readbacks, and takes these from a second run that decided the same.
 * Block sizes and fall-backs depend on timing, so the two may differ.
 * @param {any} engine @param {string} question @param {{ system: string, knobs?: object, models: object }} how
 */
const timedAnswer = async (engine, question, how) => {
  for (let tries = 1; tries <= TRIES; tries++) {
    const events = await medianAnswer(engine, question, how);
    const detailed = await answer(engine, question, { ...how, logprobs: LOGPROBS });
    const same = events.every(
      ({ type, tokens }, i) => type === detailed[i]?.type && `${tokens}` === `${detailed[i]?.tokens}`,
    );
    const joined = events.map((event, i) => {
      const { probabilities, logprobs } = detailed[i] ?? {};
      return { ...event, ...(probabilities && { probabilities }), ...(logprobs && { logprobs }) };
    });
    if (same) return joined;
    console.log(`${how.system}: the second run decided differently`);
  }
  throw new Error(`${how.system}: the two runs decided differently ${TRIES} times; try again on an idle machine`);
};

const PROBABILITIES = ['logprob', 'target', 'draft', 'r', 'probability', 'committed'];

/** Rounds probabilities, of which the page shows three digits. @param {string} key @param {unknown} value */
const lean = (key, value) =>
  PROBABILITIES.includes(key) && typeof value === 'number' ? Number(value.toPrecision(4)) : value;

/** @param {string} file @param {object[]} events */
const write = (file, events) =>
  writeFileSync(join(folder, file), `${events.map((event) => JSON.stringify(event, lean)).join('\n')}\n`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @type {{ file: string, plain: string, draft?: string, system: string, models: object, problem: object, device: string }[]} */
const index = [];
for (const run of RUNS) {
  const { system, knobs = {}, models, about, baseline, alone } = run;
  const used = index.map(({ problem }) => problem);
  /** @param {typeof problems[number]} problem */
  const fits = (problem) => about?.test(problem.question) ?? !used.includes(problem);
  const engine = await engineFor(run);
  for (const problem of problems.filter(fits)) {
    const events = await timedAnswer(engine, problem.question, { system, knobs, models });
    const right = events.at(-1)?.text.includes(`The answer is ${problem.result}.`);
    console.log(`${system}, ${right ? 'correct' : 'wrong'}: ${problem.question}`);
    if (!right) continue;
    const number = index.length + 1;
    const [file, plain] = [`problem-${number}.jsonl`, `problem-${number}-plain.jsonl`];
    const draft = alone && { draft: `problem-${number}-draft.jsonl` };
    const entry = { file, plain, ...draft, system, models, problem, device };
    write(entry.file, events);
    if (draft) write(draft.draft, await medianAnswer(engine, problem.question, { system: 'draft-only', models }));
    const plainly = baseline ? { system: baseline, models } : { system: 'autoregressive' };
    write(entry.plain, await medianAnswer(engine, problem.question, plainly));
    index.push(entry);
    break;
  }
  await engine.close();
}
await vite.close();
gpu.destroy();
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
