// A result as a file: the whole plan, so that it can be repeated, the table, and every run. Reading a file checks what
// the page shows and names the part that is wrong.

import { isObject } from '../../../src/base/is-object.ts';
import { type DeviceCard, type KnobValue, OutriderError, type Prompt } from '../../../src/index.ts';
import { committedTokens, type Metrics, measure } from '../../../src/trace/index.ts';
import type { PeerModel } from '../peer/peer-service.ts';
import type { Counts } from '../queue/counters.ts';
import type { Measured, Plan, Row } from '../queue/plan.ts';
import { type ResultRow, resultOf } from './result-row.ts';

export interface RunRecord {
  readonly system: string;
  /** Runs with the same key ran next to each other. */
  readonly key: string;
  readonly prompt: number;
  /** −1: a warm-up run, which does not count. */
  readonly repetition: number;
  readonly prompt_tokens: readonly number[];
  readonly tokens: readonly number[];
  readonly text: string | null;
  readonly right: boolean | null;
  readonly metrics: Metrics;
  readonly counted: Counts;
}

export interface ResultFile {
  readonly outrider: 'benchmark';
  readonly version: 1;
  /** ISO 8601. */
  readonly made: string;
  readonly software: { readonly outrider: string; readonly peers: readonly string[]; readonly browser: string };
  readonly device: DeviceCard | null;
  readonly plan: {
    readonly model: string;
    readonly precision: string;
    readonly suite: string;
    readonly prompts: readonly { readonly prompt: Prompt; readonly result: string | null }[];
    readonly max_tokens: number;
    readonly repeat: number;
    readonly temperature: number;
    readonly seed: number;
    readonly systems: readonly {
      readonly name: string;
      readonly system: string;
      readonly knobs: Readonly<Record<string, KnobValue>>;
    }[];
    readonly peers: readonly (PeerModel & { readonly title: string })[];
  };
  readonly rows: readonly ResultRow[];
  readonly runs: readonly RunRecord[];
}

const recordOf = (system: string, { key, prompt, repetition, events, counted, right }: Measured): RunRecord => {
  const run = events.find((event) => event.type === 'run');
  const done = events.at(-1);
  return {
    system,
    key,
    prompt,
    repetition,
    prompt_tokens: run?.prompt ?? [],
    tokens: committedTokens(events),
    text: done?.type === 'done' ? done.text : null,
    right,
    metrics: measure(events),
    counted,
  };
};

export const resultFileOf = (
  plan: Plan,
  rows: readonly Row[],
  device: DeviceCard | null,
  { version, browser, made }: { readonly version: string; readonly browser: string; readonly made: Date },
): ResultFile => ({
  outrider: 'benchmark',
  version: 1,
  made: made.toISOString(),
  software: {
    outrider: version,
    peers: rows.flatMap((row) => (row.version === null ? [] : [`${row.title} ${row.version}`])),
    browser,
  },
  device,
  plan: {
    model: plan.model,
    precision: plan.precision,
    suite: plan.suite,
    prompts: plan.prompts.map(({ prompt, result }) => ({ prompt, result })),
    max_tokens: plan.maxTokens,
    repeat: plan.repeat,
    temperature: plan.temperature,
    seed: plan.seed,
    systems: plan.systems.map(({ name, system, knobs }) => ({ name, system: system.id, knobs })),
    peers: plan.peers.map(({ name, model }) => ({ ...model, title: name })),
  },
  rows: rows.map((row) => resultOf(row, rows, plan, device)),
  runs: rows.flatMap(({ name, warmUps, samples }) => [...warmUps, ...samples].map((each) => recordOf(name, each))),
});

const refuse = (name: string, why: string): never => {
  throw new OutriderError('bad-request', `${name}: ${why}`, 'Open a file that this page saved with “Save JSON”.');
};

const isSpread = (value: unknown): boolean =>
  value === null || (isObject(value) && ['median', 'min', 'max'].every((key) => typeof value[key] === 'number'));

/** `name`: the name of the file in errors. */
export const readResult = (text: string, name: string): ResultFile => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return refuse(name, `it is not JSON: ${(cause as Error).message}`);
  }
  if (!isObject(value) || value.outrider !== 'benchmark') return refuse(name, 'it is not a result of this page');
  if (value.version !== 1)
    return refuse(name, `it has version ${value.version} of the format, and this page reads version 1`);
  const { plan, rows } = value;
  if (!isObject(plan) || typeof plan.model !== 'string') return refuse(name, 'it has no plan with a model');
  if (!Array.isArray(rows)) return refuse(name, 'it has no rows');
  for (const [i, row] of rows.entries()) {
    if (!isObject(row) || typeof row.system !== 'string') return refuse(name, `row ${i + 1} has no system`);
    for (const figure of ['tokens_per_second', 'speedup', 'answer_ms'])
      if (!isSpread(row[figure]))
        return refuse(name, `row ${i + 1} (${row.system}): ${figure} has no median and range`);
  }
  if (!Array.isArray(plan.prompts) || !plan.prompts.every(isObject)) return refuse(name, 'its plan has no prompts');
  if (!isObject(value.software)) return refuse(name, 'it does not say which software it measured');
  return value as unknown as ResultFile;
};
