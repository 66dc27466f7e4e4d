// The next step of a text: what the draft writes, how a router scores it, and what the target writes instead. It depends
// on the text before it alone, so it is run once, whatever thresholds and answers lead there. A journal in a file keeps
// what was run, so that a long measurement can be made in parts.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { refuse } from '../../base/refuse.ts';
import type { KnobValue, NumberKnob } from '../../decode/core/knobs.ts';
import { weigh } from '../../decode/steps/specguard-score.ts';
import type { RunRequest } from '../../engine/request.ts';
import random from '../../systems/random.ts';
import specguard from '../../systems/specguard.ts';
import { stepKnobs } from '../../systems/step-knobs.ts';
import { type EventOf, type TraceEvent, thresholdOf } from '../../trace/index.ts';
import type { BenchEntry } from './entries.ts';

export interface OneStep {
  readonly tokens: readonly number[];
  /** Without the token that ended the answer. */
  readonly text: string;
  /** The model ended the answer with it. */
  readonly stopped: boolean;
  /** Of a drafted step; null where it could not be scored. */
  readonly score: number | null;
  /** Tokens that the target wrote: 0 for a drafted step, unless the target wrote for its score. */
  readonly written: number;
  /** SpecGuard's score by either signal alone. */
  readonly signals?: { readonly grounding: number; readonly logprob: number };
}

/** A problem as the models read it. */
export interface Asked {
  readonly prompt: readonly number[];
  readonly seed: number;
  readonly maxTokens: number;
}

/** After these tokens of the answer. */
export interface Steps {
  drafted(entry: BenchEntry, asked: Asked, answer: readonly number[]): Promise<OneStep>;
  escalated(entry: BenchEntry, asked: Asked, answer: readonly number[]): Promise<OneStep>;
}

/** Steps that were run before, by their keys. */
export interface Journal {
  get(key: string): OneStep | undefined;
  add(key: string, step: OneStep): void;
}

/** In memory, and in a file where one is named. `about`: what all of its steps have in common, such as the models. */
export const openJournal = (path: string | undefined, about: Readonly<Record<string, unknown>>): Journal => {
  const known = new Map<string, OneStep>();
  const title = JSON.stringify(about);
  if (path !== undefined && existsSync(path)) {
    const [first, ...lines] = readFileSync(path, 'utf8').split('\n');
    if (first !== title)
      throw refuse(`${path} holds steps of ${first}, not of ${title}`, 'Name another file, or delete this one.');
    const whole = lines.slice(0, -1); // an interrupted command may have left part of a line
    for (const line of whole) known.set(...(JSON.parse(line) as [string, OneStep]));
    writeFileSync(path, [first, ...whole, ''].join('\n'));
  } else if (path !== undefined) writeFileSync(path, `${title}\n`);
  return {
    get: (key) => known.get(key),
    add(key, step) {
      known.set(key, step);
      if (path !== undefined) appendFileSync(path, `${JSON.stringify([key, step])}\n`);
    },
  };
};

const textOf = (tokens: readonly number[], pieces: readonly string[] | undefined, stop: unknown): string =>
  (pieces ?? tokens.map((token) => `${token} `)).filter((_, i) => tokens[i] !== stop).join('');

const is =
  <Type extends TraceEvent['type']>(type: Type) =>
  (event: TraceEvent): event is EventOf<Type> =>
    event.type === type;

/** The two ends of a threshold: nothing is escalated that the knob can keep, or everything. */
const thresholdsOf = (entry: BenchEntry): { readonly knob: string; readonly least: number; readonly most: number } => {
  const { threshold: knob, escalates } = thresholdOf(entry.system) as NonNullable<ReturnType<typeof thresholdOf>>;
  const { min, max } = entry.system.knobs[knob] as NumberKnob;
  return escalates === 'low' ? { knob, least: min, most: max } : { knob, least: max, most: min };
};

/** The target writes alike for all routers with these settings, unless it draws candidates. */
const writerOf = (entry: BenchEntry): BenchEntry => {
  if (entry.knobs.escalated === 'candidates') return entry;
  const shared = Object.entries(entry.knobs).filter(([name]) => Object.hasOwn(stepKnobs, name));
  return { name: ['target', ...shared.flat()].join(':'), system: random, knobs: Object.fromEntries(shared) };
};

/** The name of an entry without one of its settings. */
const without = (knob: string, { name }: BenchEntry): string =>
  name
    .split(':')
    .filter((setting) => !setting.startsWith(`${knob}=`))
    .join(':');

/**
 * The draft writes alike at every threshold. SpecGuard's does at every β: where one is named, steps are run with both
 * signals, and weighed afterwards.
 */
const drafterOf = (entry: BenchEntry): BenchEntry => {
  const one = { ...entry, name: without(thresholdsOf(entry).knob, entry) };
  if (entry.system !== specguard || entry.knobs.beta === undefined) return one;
  return { ...one, name: `${without('beta', one)}:both signals`, knobs: { ...entry.knobs, beta: 0.5 } };
};

const weighed = (step: OneStep, beta: KnobValue | undefined): OneStep =>
  step.signals && typeof beta === 'number'
    ? { ...step, score: beta * step.signals.logprob + (1 - beta) * step.signals.grounding }
    : step;

export class OneSteps implements Steps {
  readonly #run: (request: RunRequest) => Promise<readonly TraceEvent[]>;
  readonly #journal: Journal;

  constructor(run: (request: RunRequest) => Promise<readonly TraceEvent[]>, journal: Journal) {
    this.#run = run;
    this.#journal = journal;
  }

  async drafted(entry: BenchEntry, asked: Asked, answer: readonly number[]): Promise<OneStep> {
    const drafter = drafterOf(entry);
    const step = await this.#once(`${drafter.name} drafts`, asked, answer, async (request) => {
      const { knob, least } = thresholdsOf(drafter);
      const events = await this.#ask(drafter, { [knob]: least }, request);
      const route = events.find(is('route'));
      const step = events.find(is('step'));
      const { stop = null } = events.find(is('done')) ?? {};
      const candidates = events.find((event) => is('candidates')(event) && event.by === 'draft');
      if (!route || !step || candidates?.type !== 'candidates') throw new Error(`${entry.name} drafted no step`);
      const { chosen = 0, score, signals: read } = route;
      const ranges = events.find(is('calibration'));
      const alone = (beta: number) => (read && ranges ? weigh(read, ranges, beta).score : 0);
      const signals = drafter.knobs === entry.knobs ? {} : { signals: { grounding: alone(0), logprob: alone(1) } };
      const tokens = (candidates.tokens[chosen] ?? []).slice(0, request.maxTokens);
      const stopped = step.by === 'draft' && stop !== null && tokens.at(-1) === stop;
      const written = step.by === 'draft' ? (step.written ?? 0) : 0;
      return { tokens, text: textOf(tokens, candidates.pieces?.[chosen], stop), stopped, score, written, ...signals };
    });
    return weighed(step, entry.knobs.beta);
  }

  async escalated(entry: BenchEntry, asked: Asked, answer: readonly number[]): Promise<OneStep> {
    const writer = writerOf(entry);
    return this.#once(`${writer.name} writes`, asked, answer, async (request) => {
      const { knob, most } = thresholdsOf(writer);
      const events = await this.#ask(writer, { [knob]: most }, request);
      const step = events.find(is('step'));
      if (step?.by !== 'target') throw new Error(`${writer.name}: the target wrote no step`);
      const { stop = null } = events.find(is('done')) ?? {};
      const { ids: tokens = [], pieces } = step;
      const stopped = stop !== null && tokens.at(-1) === stop;
      return {
        tokens,
        text: textOf(tokens, pieces, stop),
        stopped,
        score: null,
        written: step.written ?? tokens.length,
      };
    });
  }

  async #once(
    what: string,
    { prompt, seed, maxTokens }: Asked,
    answer: readonly number[],
    run: (request: RunRequest) => Promise<OneStep>,
  ): Promise<OneStep> {
    const key = `${what}|${seed}|${prompt}|${answer}`;
    const known = this.#journal.get(key);
    if (known) return known;
    const request = { prompt: { tokens: [...prompt, ...answer] }, seed, maxTokens: maxTokens - answer.length };
    const step = await run({ ...request, temperature: 0 });
    this.#journal.add(key, step);
    return step;
  }

  #ask(
    { system, knobs }: BenchEntry,
    more: Readonly<Record<string, KnobValue>>,
    request: RunRequest,
  ): Promise<readonly TraceEvent[]> {
    return this.#run({ ...request, system: system.id, knobs: { ...knobs, ...more, 'max-steps': 1 } });
  }
}
