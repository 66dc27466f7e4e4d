// What happened, as plain data: events that cross postMessage, print as JSON lines and replay without a GPU, stamped
// where the work is done. Every figure anywhere (page, command line, benchmark) is a fold over this one stream.
import type { Escalates } from './threshold.ts';

export { readTraceText, type TraceProblem, type TraceText } from './read-trace.ts';
export { type Escalates, type ThresholdRule, thresholdOf } from './threshold.ts';

/** Who did the work. */
export type Role = 'target' | 'draft' | `also-${number}` | 'dflash' | 'eagle3' | 'lookup' | 'prm' | 'router' | 'remote';
/** How a committed token came about. */
export type Source = 'sampled' | 'drafted' | 'corrected' | 'bonus' | 'routed';

/** A token as text, and how probable it was. */
export interface TokenText {
  readonly token: number;
  /** Null where the model came without a tokenizer. */
  readonly text: string | null;
  /** Under the model's unmodified distribution (temperature 1, no filter). */
  readonly logprob: number;
}

/** A committed token's log-probability and the most probable alternatives at its position. */
export interface TokenLogprob extends TokenText {
  readonly top: readonly TokenText[];
}

/** The step that a nested system wrote: events inside an escalated step carry it. */
type Nested = number;

type Passes = { readonly [Member in Role]?: number };

/** Probabilities after temperature and filters; at temperature 0, as they were at 1. */
export interface TokenVote {
  /** What the ensemble gives the committed token. */
  readonly r: number;
  /** By member: the token that it finds most probable, and what it gives the committed one. */
  readonly own: readonly {
    readonly by: Role;
    readonly token: number;
    readonly text: string | null;
    readonly probability: number;
    readonly committed: number;
  }[];
}

/** `at`: milliseconds since the request was made. `round` 0 is the first token, drawn from the prompt's last row. */
export type TraceEvent = { readonly at: number } & (
  | { readonly type: 'queued'; readonly ahead: number }
  | {
      readonly type: 'run';
      readonly version: 1;
      readonly system: string;
      /** Of a step router: whether a high or a low score escalates, and the knob with the threshold (`thresholdOf`). */
      readonly escalates?: Escalates;
      readonly threshold?: string;
      readonly knobs: Readonly<Record<string, number | string | readonly number[]>>;
      readonly seed: number;
      readonly prompt: readonly number[];
      /** By role, the names of the models that were loaded: whoever loaded them adds it (the command line, the demo). */
      readonly models?: Readonly<Record<string, string>>;
    }
  /** `reused` rows were in the cache already (the same conversation's earlier turns), `rows` were computed. */
  | {
      readonly type: 'prefill';
      readonly by: Role;
      readonly rows: number;
      readonly reused: number;
      readonly ms: number;
      readonly step?: Nested;
    }
  /**
   * Node 0 of the tree is the anchor; `passes` forward passes of `by` wrote the rest. The drafts are on the device until
   * the verdict is read, so `ms` is what recording them took, and the device's time is in `verify`.
   */
  | {
      readonly type: 'draft';
      readonly round: number;
      readonly by: Role;
      readonly tokens: readonly number[];
      readonly parents: readonly number[];
      /** Each token as it is written, special ones too. The engine adds it where there is a tokenizer. */
      readonly pieces?: readonly string[];
      readonly passes: number;
      readonly ms: number;
      readonly step?: Nested;
    }
  /**
   * One pass over a tree: the nodes it kept (node 0 first), and the token after them. An ensemble decides together on the
   * drafts in `checked` (who proposed each), which may be older than the round, as nodes 1 and up; what was drafted behind
   * them waits while they are all kept. Without a corrected or bonus token `next` is the last draft.
   */
  | {
      readonly type: 'verify';
      readonly round: number;
      readonly by: Role;
      readonly path: readonly number[];
      readonly next: number;
      readonly source: Source;
      readonly checked?: readonly Role[];
      /**
       * Of every draft of the tree (nodes 1 and up), what the target and its drafter gave that token in its place, at
       * temperature 1 without filters; null where the drafter has no distribution, as a look-up. Where `logprobs` were asked for,
       * of systems with one target; it costs no readback. Absent in recordings older than it.
       */
      readonly probabilities?: readonly { readonly target: number; readonly draft: number | null }[];
      /** Forward passes that drew no draft, of each member. Absent: the one pass. */
      readonly passes?: Passes;
      readonly ms: number;
      readonly step?: Nested;
    }
  /** A block size was chosen for this run: of each candidate, the tokens expected of a round and what it takes here. */
  | {
      readonly type: 'block-size';
      readonly size: number;
      readonly candidates: readonly number[];
      readonly tau: readonly number[];
      readonly round_ms: readonly number[];
      readonly ms: number;
      readonly step?: Nested;
    }
  /** Drafting cost more than it gained, or is tried again: milliseconds for each token of either way, as measured. */
  | {
      readonly type: 'fall-back';
      readonly round: number;
      readonly to: 'plain' | 'speculation';
      readonly speculative_ms: number | null;
      readonly plain_ms: number | null;
      readonly step?: Nested;
    }
  /** What is usual for the draft's steps (5th to 95th percentile); assumed where it was never calibrated. */
  | {
      readonly type: 'calibration';
      readonly calibrated: boolean;
      readonly logprob: readonly [number, number];
      readonly grounding: readonly [number, number] | null;
    }
  /** Steps from one prefix, written for a rule to choose from or to judge: by the draft, or by the target where it samples too. */
  | {
      readonly type: 'candidates';
      readonly round: number;
      readonly step: number;
      readonly by: Role;
      readonly tokens: readonly (readonly number[])[];
      readonly pieces?: readonly (readonly string[])[];
      /** Tokens, with those behind the steps' ends. */
      readonly written: number;
      readonly passes: number;
      readonly ms: number;
    }
  /** A rule's decision on the candidates before it. `by`: the judge, or the draft where its own signals decide. */
  | {
      readonly type: 'route';
      readonly round?: number;
      readonly step: number;
      readonly by: Role;
      /** Who writes the step: the draft's is kept, or the target's comes. */
      readonly to: Role;
      /** Null where the judge could not read the step, or could not be had. */
      readonly score: number | null;
      readonly threshold: number;
      readonly reason: string;
      /** Which candidate it is about. */
      readonly chosen?: number;
      readonly judge_ms?: number;
      /** What the score was made of: the least log-probability and grounding of the step's tokens. */
      readonly signals?: { readonly logprob: number; readonly grounding: number | null };
      /** Why the judge could not be had: the target writes this step and the rest. */
      readonly fault?: { readonly code: string; readonly message: string; readonly hint: string };
    }
  /** A step is committed to its end; from 1. */
  | {
      readonly type: 'step';
      readonly step: number;
      readonly by: Role;
      readonly tokens: number;
      readonly ids?: readonly number[];
      readonly pieces?: readonly string[];
      readonly ends?: 'delimiter' | 'stop' | 'length';
      /** With drafting and judging. */
      readonly ms: number;
      /** Tokens that the target wrote for it, where they are not the step itself. */
      readonly written?: number;
    }
  /**
   * A step was asked of a target on another machine: what came of it, in how many tries. With a fault the run went on with
   * what the draft wrote.
   */
  | {
      readonly type: 'remote';
      readonly model: string;
      readonly tokens: number;
      readonly tries: number;
      /** Until the first of its text was here. */
      readonly first_ms: number | null;
      readonly ms: number;
      readonly fault: { readonly code: string; readonly message: string; readonly hint: string } | null;
    }
  /** `text` is what became certain: whole characters, and nothing that may yet turn out to be a stop string. */
  | {
      readonly type: 'commit';
      readonly round: number;
      readonly tokens: readonly number[];
      readonly source: readonly Source[];
      readonly text: string | null;
      /** What each token added to `text`; '' while it is held back. Where there is a tokenizer. */
      readonly pieces?: readonly string[];
      readonly logprobs: readonly TokenLogprob[] | null;
      /** Of an ensemble, one a token: who proposed it (null: drawn from what they say together), and the members' votes. */
      readonly by?: readonly (Role | null)[];
      readonly votes?: readonly TokenVote[];
      readonly ms: number;
    }
  /** What reached the device in this round; `spans` where its kernels were timed. */
  | {
      readonly type: 'kernels';
      readonly round: number;
      readonly dispatches: number;
      readonly submits: number;
      readonly readbacks: number;
      /** Absent in recordings older than it. */
      readonly readback_bytes?: number;
      readonly spans: readonly { readonly name: string; readonly ms: number }[];
    }
  /** `text` is the whole answer; `stop` the token or string that ended it. */
  | {
      readonly type: 'done';
      readonly finish_reason: 'stop' | 'length' | 'aborted';
      readonly stop: number | string | null;
      readonly text: string | null;
    }
);

/** The kinds of events. */
export type TraceEventType = TraceEvent['type'];
/** The events of one kind. */
export type EventOf<Type extends TraceEventType> = Extract<TraceEvent, { readonly type: Type }>;

/** A system says what it did; the engine stamps the time. */
export type Emit = (event: TraceEvent extends infer E ? (E extends TraceEvent ? Omit<E, 'at'> : never) : never) => void;

/** A fold over the stream. Nothing else counts anything. */
export interface Metric<State, Value> {
  readonly start: State;
  /** The state after one more event. */
  add(state: State, event: TraceEvent): State;
  /** What the state says. */
  value(state: State): Value;
}

/** A metric over a whole run. */
export const fold = <State, Value>(metric: Metric<State, Value>, events: Iterable<TraceEvent>): Value => {
  let state = metric.start;
  for (const event of events) state = metric.add(state, event);
  return metric.value(state);
};

const total = (amount: (event: TraceEvent) => number): Metric<number, number> => ({
  start: 0,
  add: (sum, event) => sum + amount(event),
  value: (sum) => sum,
});

const isDraft = (event: TraceEvent) => event.type === 'draft' || event.type === 'candidates';

/** Forward passes of `role` after the prefill; without one, of all models. */
const passesIn = (event: TraceEvent, role?: Role): number => {
  if (isDraft(event)) return role === undefined || event.by === role ? event.passes : 0;
  if (event.type !== 'verify') return 0;
  const passes = event.passes ?? { [event.by]: 1 };
  return role === undefined
    ? Object.values(passes).reduce<number>((sum, count = 0) => sum + count, 0)
    : (passes[role] ?? 0);
};

const inRound = (event: TraceEvent): event is EventOf<'commit'> => event.type === 'commit' && event.round > 0;

const ratio = (numerator: number, denominator: number): number | null =>
  denominator > 0 ? numerator / denominator : null;

const tokens = total((e) => (e.type === 'commit' ? e.tokens.length : 0));
const rounds = total((e) => (inRound(e) ? 1 : 0));
const roundTokens = total((e) => (inRound(e) ? e.tokens.length : 0));

/** Not that of a step in the middle of an answer. */
const ofPrompt = (event: TraceEvent): event is EventOf<'prefill'> =>
  event.type === 'prefill' && event.step === undefined;

/** Decoding lasts from the end of the prefill (its token, where there is one, included) to the last commit. */
const decoding: Metric<{ start: number; end: number }, number> = {
  start: { start: 0, end: 0 },
  add: (span, event) => {
    if (ofPrompt(event) || (event.type === 'commit' && event.round === 0)) return { start: event.at, end: event.at };
    return event.type === 'commit' ? { ...span, end: event.at } : span;
  },
  value: ({ start, end }) => end - start,
};

const both = <S, T, A, B, Value>(
  a: Metric<S, A>,
  b: Metric<T, B>,
  value: (a: A, b: B) => Value,
): Metric<[S, T], Value> => ({
  start: [a.start, b.start],
  add: ([s, t], event) => [a.add(s, event), b.add(t, event)],
  value: ([s, t]) => value(a.value(s), b.value(t)),
});

const acceptanceLengths: Metric<readonly number[], readonly number[]> = {
  start: [],
  add: (lengths, event) => (inRound(event) ? [...lengths, event.tokens.length] : lengths),
  value: (lengths) => lengths,
};

/** Of the prompt: in the target's cache, or in the draft's where the target reads it only when it is needed. */
const reused: Metric<{ target: number | null; draft: number }, number> = {
  start: { target: null, draft: 0 },
  add: (state, event) =>
    ofPrompt(event) && (event.by === 'target' || event.by === 'draft') ? { ...state, [event.by]: event.reused } : state,
  value: ({ target, draft }) => target ?? draft,
};

const steps = total((e) => (e.type === 'step' ? 1 : 0));

/** Not inside an escalated step: however it was drafted in there, all of its tokens are the target's. */
const drafted = total((e) => {
  if (e.type === 'candidates') return e.by === 'draft' ? e.written : 0;
  return e.type === 'draft' && e.step === undefined ? e.tokens.length - 1 : 0;
});

const accepted = total((e) => (e.type === 'commit' ? e.source.filter((source) => source === 'drafted').length : 0));

/** What `outrider generate --json` prints with its last event, under the same names. */
export const METRICS = {
  prompt_tokens: total((e) => (e.type === 'run' ? e.prompt.length : 0)),
  reused_tokens: reused,
  tokens,
  rounds,
  tokens_per_round: both(roundTokens, rounds, ratio),
  acceptance_lengths: acceptanceLengths,
  accepted,
  drafted,
  /** Drafted for nothing. */
  wasted: both(drafted, accepted, (all, kept) => all - kept),
  /** Passes after the prefill. */
  target_passes: total((e) => passesIn(e, 'target')),
  /** Of whatever drafts, a lookup's or a drafter's too; of an ensemble's members, of those beside the target. */
  draft_passes: total((e) => (isDraft(e) && e.by !== 'target' ? e.passes : 0)),
  /** Of all models. */
  passes: total((e) => passesIn(e)),
  steps,
  escalated: total((e) => (e.type === 'route' && e.to === 'target' ? 1 : 0)),
  /** Of all steps, the target's. */
  escalation_rate: both(
    total((e) => (e.type === 'step' && e.by === 'target' ? 1 : 0)),
    steps,
    ratio,
  ),
  /** Tokens that the target wrote, kept or not; of systems without steps all of them. */
  target_tokens: both(
    total((e) => (e.type === 'step' ? (e.written ?? (e.by === 'target' ? e.tokens : 0)) : 0)),
    both(steps, tokens, (count, all) => (count > 0 ? 0 : all)),
    (inSteps, others) => inSteps + others,
  ),
  judge_ms: total((e) => (e.type === 'route' ? (e.judge_ms ?? 0) : 0)),
  prefill_ms: total((e) => (ofPrompt(e) ? e.ms : 0)),
  decode_ms: decoding,
  tokens_per_second: both(roundTokens, decoding, (count, ms) => ratio(1000 * count, ms)),
  dispatches: total((e) => (e.type === 'kernels' ? e.dispatches : 0)),
  submits: total((e) => (e.type === 'kernels' ? e.submits : 0)),
  readbacks: total((e) => (e.type === 'kernels' ? e.readbacks : 0)),
} as const;

/** All metrics of a run, by name. */
export type Metrics = { readonly [Name in keyof typeof METRICS]: ReturnType<(typeof METRICS)[Name]['value']> };

/** Every metric over a whole run. */
export const measure = (events: Iterable<TraceEvent>): Metrics => {
  const all = [...events];
  const entries = Object.entries(METRICS) as [string, Metric<unknown, unknown>][];
  return Object.fromEntries(entries.map(([name, metric]) => [name, fold(metric, all)])) as Metrics;
};

/** All committed ids after the prompt. */
export const committedTokens = (events: Iterable<TraceEvent>): number[] =>
  [...events].flatMap((event) => (event.type === 'commit' ? event.tokens : []));

/** Token counts in OpenAI's shape. Drafts never count as completion tokens. */
export const usage = (metrics: Metrics) => ({
  prompt_tokens: metrics.prompt_tokens,
  completion_tokens: metrics.tokens,
  total_tokens: metrics.prompt_tokens + metrics.tokens,
  prompt_tokens_details: { cached_tokens: metrics.reused_tokens },
  completion_tokens_details: {
    accepted_prediction_tokens: metrics.accepted,
    rejected_prediction_tokens: metrics.drafted - metrics.accepted,
  },
});
