// The steps of a step router's run, read from its events: what the draft wrote, what the rule decided, what was
// committed. Also what another threshold would have decided on the same scores.
import { type EventOf, type Role, type ThresholdRule, type TraceEvent, thresholdOf } from '../../src/trace/index.ts';

export interface Step {
  /** From 1. */
  readonly step: number;
  /** What the draft wrote; null if it was not asked. */
  readonly draft: string | null;
  /** All candidates that the draft wrote. */
  readonly candidates: readonly string[];
  /** The rule's decision; null if no rule was asked. */
  readonly route: EventOf<'route'> | null;
  /** Committed so far. */
  readonly text: string;
  readonly by: Role;
  readonly tokens: number;
  /** Null while it is being written. */
  readonly ms: number | null;
  /** Tokens that the target wrote for this step, kept or not. */
  readonly written: number;
}

const textOf = (tokens: readonly number[], pieces: readonly string[] | undefined): string =>
  pieces ? pieces.join('') : tokens.map((token) => `${token} `).join('');

/** A step as shown: without surrounding space and without the token that ends an answer. */
export const stepText = (text: string): string => text.replace(/<\/?[\w|]+>\s*$/, '').trim();

const NOTHING = { candidates: [], route: null, text: '', by: 'draft', tokens: 0, ms: null, written: 0 } as const;

/** Turns events into steps. */
export class StepReader {
  readonly steps: Step[] = [];
  /** How the run compares scores with its threshold; null if it has none, or before its first event. */
  rule: ThresholdRule | null = null;
  #drafts: readonly string[] = [];
  /** The step that is being written. */
  #open: Step | null = null;

  /** Returns the step that this event changed. */
  add(event: TraceEvent): Step | null {
    if (event.type === 'run') this.rule = thresholdOf(event);
    if (event.type === 'candidates' && event.by !== 'target') {
      this.#drafts = event.tokens.map((tokens, i) => textOf(tokens, event.pieces?.[i]));
      return this.#put({ ...NOTHING, step: event.step, draft: this.#drafts[0] ?? null, candidates: this.#drafts });
    }
    if (event.type === 'route') {
      const open = this.#open ?? { ...NOTHING, step: event.step, draft: null };
      const draft = this.#drafts[event.chosen ?? 0] ?? open.draft;
      return this.#put({ ...open, draft, route: event, by: event.to });
    }
    if (event.type === 'commit' && this.#open?.by === 'target') {
      const { text, tokens } = this.#open;
      const more = textOf(event.tokens, event.pieces);
      return this.#put({ ...this.#open, text: text + more, tokens: tokens + event.tokens.length });
    }
    if (event.type !== 'step') return null;
    const { by, tokens, ms, ids = [], pieces } = event;
    const open = this.#open ?? { ...NOTHING, step: event.step, draft: null };
    const written = event.written ?? (by === 'draft' ? 0 : tokens);
    const whole = { ...open, by, tokens, ms, written, text: textOf(ids, pieces) };
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

/** The steps of a finished run, and its rule. */
export const readSteps = (events: readonly TraceEvent[]): Pick<StepReader, 'steps' | 'rule'> => {
  const reader = new StepReader();
  for (const event of events) reader.add(event);
  return reader;
};

/** Whether a step with this score is escalated; a step without a score always is. */
export const isEscalated = ({ escalates }: ThresholdRule, score: number | null, threshold: number): boolean =>
  score === null || (escalates === 'high' ? score > threshold : score < threshold);

export interface WhatIf {
  readonly escalated: number;
  /** Numbers of the steps whose decision would differ. */
  readonly changed: readonly number[];
}

/**
 * What another threshold would decide on the scores of this run. From the first changed decision on, the text and its
 * scores would have been different: the count after it is an estimate.
 */
export const whatIf = (rule: ThresholdRule, steps: readonly Step[], threshold: number): WhatIf => {
  const judged = steps.flatMap(({ step, route }) => (route ? [{ step, route }] : []));
  const now = judged.filter(({ route }) => isEscalated(rule, route.score, threshold));
  const changed = judged.filter(({ route }) => isEscalated(rule, route.score, threshold) !== (route.to === 'target'));
  return { escalated: now.length, changed: changed.map(({ step }) => step) };
};

/** The range of a slider over these scores, and the threshold of the run. */
export const rangeOf = (steps: readonly Step[]): { min: number; max: number; threshold: number } | null => {
  const routes = steps.flatMap(({ route }) => (route ? [route] : []));
  const [first] = routes;
  if (!first) return null;
  const values = routes.flatMap(({ score, threshold }) => (score === null ? [threshold] : [score, threshold]));
  const [min, max] = [Math.min(0, ...values), Math.max(...values)];
  // Probabilities reach from 0 to 1; log-probabilities end at 0.
  return {
    min: Math.floor(min * 100) / 100,
    max: min < 0 && max <= 0 ? 0 : Math.max(1, max),
    threshold: first.threshold,
  };
};
