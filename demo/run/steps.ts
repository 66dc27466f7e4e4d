// Steps of a run, put together from its events: what the draft wrote, what a rule made of it, what was committed. And what
// another threshold would have decided on the same scores.
import type { EventOf, Role, TraceEvent } from '../../src/trace/index.ts';

export interface Step {
  /** From 1. */
  readonly step: number;
  /** What the draft wrote; null where nobody asked it. */
  readonly draft: string | null;
  /** How many of its candidates there were. */
  readonly candidates: number;
  /** Null where there was no rule. */
  readonly route: EventOf<'route'> | null;
  /** Committed so far. */
  readonly text: string;
  readonly by: Role;
  readonly tokens: number;
  /** Null while it is being written. */
  readonly ms: number | null;
  /** Tokens that the target wrote for it, kept or not. */
  readonly written: number;
}

const spell = (tokens: readonly number[], pieces: readonly string[] | undefined): string =>
  pieces ? pieces.join('') : tokens.map((token) => `${token} `).join('');

/** A step as it reads: without the space around it, and the sign that ends an answer. */
export const legible = (text: string): string => text.replace(/<\/?[\w|]+>\s*$/, '').trim();

const NOTHING = { candidates: 0, route: null, text: '', by: 'draft', tokens: 0, ms: null, written: 0 } as const;

/** Turns events into steps; each is handed out whenever it changed. */
export class StepReader {
  readonly steps: Step[] = [];
  #drafts: readonly string[] = [];
  /** The answer is one step, and its candidates are answers. */
  #open: Step | null = null;

  add(event: TraceEvent): Step | null {
    if (event.type === 'candidates' && event.by !== 'target') {
      this.#drafts = event.tokens.map((tokens, i) => spell(tokens, event.pieces?.[i]));
      return this.#put({
        ...NOTHING,
        step: event.step,
        draft: this.#drafts[0] ?? null,
        candidates: event.tokens.length,
      });
    }
    if (event.type === 'route') {
      const open = this.#open ?? { ...NOTHING, step: event.step, draft: null };
      const draft = this.#drafts[event.chosen ?? 0] ?? open.draft;
      return this.#put({ ...open, draft, route: event, by: event.to });
    }
    if (event.type === 'commit' && this.#open?.by === 'target') {
      const { text, tokens } = this.#open;
      const more = spell(event.tokens, event.pieces);
      return this.#put({ ...this.#open, text: text + more, tokens: tokens + event.tokens.length });
    }
    if (event.type !== 'step') return null;
    const { by, tokens, ms, ids = [], pieces } = event;
    const open = this.#open ?? { ...NOTHING, step: event.step, draft: null };
    const written = event.written ?? (by === 'draft' ? 0 : tokens);
    const whole = { ...open, by, tokens, ms, written, text: spell(ids, pieces) };
    this.#put(whole);
    this.#open = null;
    this.#drafts = [];
    return whole;
  }

  #put(step: Step): Step {
    this.#open = step;
    if (this.steps.at(-1)?.step === step.step) this.steps.pop();
    this.steps.push(step);
    return step;
  }
}

/** Rules that escalate where the score is above the threshold; the others where it is below. */
const ADVANTAGE: readonly string[] = ['arbitrage', 'oracle'];

export const escalates = (system: string, score: number | null, threshold: number): boolean =>
  score === null || (ADVANTAGE.includes(system) ? score > threshold : score < threshold);

export interface WhatIf {
  readonly escalated: number;
  /** Steps that would have gone the other way. */
  readonly changed: readonly number[];
}

/**
 * Decisions of this run's scores under another threshold. After the first one that changes the text would have been
 * another, and so would its scores: what is counted behind it is an estimate.
 */
export const whatIf = (system: string, steps: readonly Step[], threshold: number): WhatIf => {
  const judged = steps.flatMap(({ step, route }) => (route ? [{ step, route }] : []));
  const now = judged.filter(({ route }) => escalates(system, route.score, threshold));
  const changed = judged.filter(({ route }) => escalates(system, route.score, threshold) !== (route.to === 'target'));
  return { escalated: now.length, changed: changed.map(({ step }) => step) };
};

/** Whole answers are chosen by comparison: there is no threshold to try. */
const ELECTIONS: readonly string[] = ['majority', 'best-of-n'];

export const hasThreshold = (system: string): boolean => !ELECTIONS.includes(system);

/** Where a slider over these scores begins and ends, and where the run's own threshold lies. */
export const rangeOf = (steps: readonly Step[]): { min: number; max: number; threshold: number } | null => {
  const routes = steps.flatMap(({ route }) => (route ? [route] : []));
  const [first] = routes;
  if (!first) return null;
  const values = routes.flatMap(({ score, threshold }) => (score === null ? [threshold] : [score, threshold]));
  const [min, max] = [Math.min(0, ...values), Math.max(...values)];
  // Probabilities have their own scale; log-probabilities end at 0.
  return {
    min: Math.floor(min * 100) / 100,
    max: min < 0 && max <= 0 ? 0 : Math.max(1, max),
    threshold: first.threshold,
  };
};
