// What happened in a run, as plain data: events cross postMessage, print as JSON lines and replay without a GPU. Each
// is stamped where the work is done. Every figure on a page, in the command line and in a benchmark is a fold over
// them.
import type { ThresholdRule } from './threshold.ts';

/** Who did the work. */
export type Role =
  | 'target'
  | 'draft'
  | `also-${number}`
  | 'dflash'
  | 'dspark'
  | 'eagle3'
  | 'mtp'
  | 'lookup'
  | 'prm'
  | 'router'
  | 'remote'
  | 'constraint';
/** How a committed token came about; `forced`: a constraint left no choice. */
export type Source = 'sampled' | 'drafted' | 'corrected' | 'bonus' | 'routed' | 'forced';

/** A token as text, and how probable it was. */
export interface TokenText {
  readonly token: number;
  /** Null when the model has no tokenizer. */
  readonly text: string | null;
  /**
   * Natural logarithm, at temperature 1 and without filters, after penalties and biases, by the model that wrote it. Of an
   * ensemble that of r, which above temperature 0 has both. 0 where a constraint leaves no choice.
   */
  readonly logprob: number;
}

/**
 * A committed token's log-probability and the most probable alternatives at its position. The token that ends an answer
 * after which a constraint allows nothing has none.
 */
export interface TokenLogprob extends TokenText {
  readonly top: readonly TokenText[];
}

/** The step that a nested system wrote: events inside an escalated step carry it. */
type Nested = number;

/** Forward passes, by whose model. */
export type Passes = { readonly [Member in Role]?: number };

interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * How an ensemble came to a committed token: probabilities after temperature and filters; at temperature 0, as at 1.
 */
export interface TokenVote {
  /** What the ensemble gives the committed token. */
  readonly r: number;
  /** By member: its most probable token, and what it gives the committed one. */
  readonly own: readonly {
    readonly by: Role;
    readonly token: number;
    readonly text: string | null;
    readonly probability: number;
    readonly committed: number;
  }[];
}

/** The first event of a run: what was asked, with every knob's value. */
interface Run extends Partial<ThresholdRule> {
  readonly type: 'run';
  readonly version: 1;
  readonly system: string;
  readonly knobs: Readonly<Record<string, number | string | readonly number[]>>;
  readonly seed: number;
  readonly prompt: readonly number[];
  /**
   * How reasoning and calls of tools are written, where the request asks for them: `tools` is the form of a family of
   * models. The text of the answer then holds their marks.
   */
  readonly format?: {
    readonly tools: string | null;
    readonly reasoning: { readonly open: string; readonly close: string; readonly begun: boolean } | null;
  };
  /** The names of the loaded models, by role. The command line and the demo add them; the engine does not. */
  readonly models?: Readonly<Record<string, string>>;
}

/** `at`: milliseconds since the request was made. `round` 0 is the first token, drawn from the prompt's last row. */
export type TraceEvent = { readonly at: number } & (
  | { readonly type: 'queued'; readonly ahead: number }
  | Run
  /** `rows` were computed; `reused` rows were in the cache already, from earlier messages of the same conversation. */
  | {
      readonly type: 'prefill';
      readonly by: Role;
      readonly rows: number;
      readonly reused: number;
      /** Forward passes that computed them. Old recordings lack it. */
      readonly passes?: number;
      readonly ms: number;
      readonly step?: Nested;
    }
  /**
   * A tree of drafts. Node 0 is the anchor; `passes` forward passes of `by` wrote the rest. The drafts stay on the
   * device until the verdict is read: `ms` is what recording them took, and the device's time is part of `verify`.
   */
  | {
      readonly type: 'draft';
      readonly round: number;
      readonly by: Role;
      readonly tokens: readonly number[];
      readonly parents: readonly number[];
      /** Each token as text, special ones too. The engine adds it when there is a tokenizer. */
      readonly pieces?: readonly string[];
      /** The first so many drafts are text that a constraint leaves no choice about. */
      readonly forced?: number;
      /**
       * Forward passes, also those in which a drafter reads what it missed while it was paused. Passes that are only timed
       * before the first round of a system, to know what rounds cost, are in no event.
       */
      readonly passes: number;
      readonly ms: number;
      readonly step?: Nested;
    }
  /**
   * One pass over a tree: the nodes it kept (node 0 first), and the token after them. An ensemble decides together on
   * the drafts in `checked` (who proposed each) as nodes 1 and up; they may be older than the round. Drafts after them
   * wait while all are kept. Without a corrected or bonus token `next` is the last draft.
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
       * For every draft of the tree (nodes 1 and up): the probability that the target and the drafter gave it, at
       * temperature 1 without filters. Null for a drafter without a distribution, such as a look-up. Present when
       * `logprobs` were asked for and the system has one target; it costs no readback. Old recordings lack it.
       */
      readonly probabilities?: readonly { readonly target: number; readonly draft: number | null }[];
      /** Forward passes of each member that drew no draft. Absent: the one pass. */
      readonly passes?: Passes;
      readonly ms: number;
      readonly step?: Nested;
    }
  /** A block size was chosen for this run. For each candidate: the expected tokens of a round, and its time here. */
  | {
      readonly type: 'block-size';
      readonly size: number;
      readonly candidates: readonly number[];
      readonly tau: readonly number[];
      readonly round_ms: readonly number[];
      readonly ms: number;
      readonly step?: Nested;
    }
  /** Drafting cost more time than it saved, or is tried again. The measured milliseconds per token, either way. */
  | {
      readonly type: 'fall-back';
      readonly round: number;
      readonly to: 'plain' | 'speculation';
      readonly speculative_ms: number | null;
      readonly plain_ms: number | null;
      readonly step?: Nested;
    }
  /** The usual range of the draft's step signals (5th to 95th percentile); a default when it was never calibrated. */
  | {
      readonly type: 'calibration';
      readonly calibrated: boolean;
      readonly logprob: readonly [number, number];
      readonly grounding: readonly [number, number] | null;
    }
  /**
   * Steps that continue one prefix, for a rule to choose from or to judge. The draft writes them, or a sampling target.
   */
  | {
      readonly type: 'candidates';
      readonly round: number;
      readonly step: number;
      readonly by: Role;
      readonly tokens: readonly (readonly number[])[];
      readonly pieces?: readonly (readonly string[])[];
      /** Tokens, including those after the ends of the steps. */
      readonly written: number;
      readonly passes: number;
      readonly ms: number;
    }
  /** A rule's decision on the candidates before it. `by`: the judge, or the draft when its own signals decide. */
  | {
      readonly type: 'route';
      readonly round?: number;
      readonly step: number;
      readonly by: Role;
      /** Who writes the step: the draft's is kept, or the target writes it anew. */
      readonly to: Role;
      /** Null when the judge could not read the step or did not answer. */
      readonly score: number | null;
      readonly threshold: number;
      readonly reason: string;
      /** The candidate that the decision is about. */
      readonly chosen?: number;
      readonly judge_ms?: number;
      /** What the score was computed from: the least log-probability and grounding of the step's tokens. */
      readonly signals?: { readonly logprob: number; readonly grounding: number | null };
      /** Why the judge did not answer. The target writes this step and all after it. */
      readonly fault?: Fault;
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
      /** Tokens that the target wrote for it, when they are not the step itself. */
      readonly written?: number;
    }
  /** A target on another machine was asked for a step, in so many tries. After a fault the draft's text is used. */
  | {
      readonly type: 'remote';
      readonly model: string;
      readonly tokens: number;
      readonly tries: number;
      /** Until the first text arrived. */
      readonly first_ms: number | null;
      readonly ms: number;
      readonly fault: Fault | null;
    }
  /** `text` is what became certain: whole characters, and nothing that may still turn out to be a stop string. */
  | {
      readonly type: 'commit';
      readonly round: number;
      readonly tokens: readonly number[];
      readonly source: readonly Source[];
      readonly text: string | null;
      /**
       * What each token added to `text`; '' while it is held back. Absent without a tokenizer, and where text that was held
       * back comes without a token, at the end of a constraint.
       */
      readonly pieces?: readonly string[];
      readonly logprobs: readonly TokenLogprob[] | null;
      /** Of an ensemble, per token: who proposed it (null: drawn from the combined distribution), and the votes. */
      readonly by?: readonly (Role | null)[];
      readonly votes?: readonly TokenVote[];
      readonly ms: number;
    }
  /** What reached the device in this round; `spans` when its kernels were timed. */
  | {
      readonly type: 'kernels';
      readonly round: number;
      readonly dispatches: number;
      readonly submits: number;
      readonly readbacks: number;
      /** Old recordings lack it. */
      readonly readback_bytes?: number;
      readonly spans: readonly { readonly name: string; readonly ms: number }[];
    }
  /** The GPU was lost in this round. The models are loaded again on the next device, and the answer goes on there. */
  | {
      readonly type: 'device-lost';
      readonly round: number;
      readonly fault: { readonly code: string; readonly message: string; readonly hint: string };
    }
  /** The models are loaded on another device, which took `ms`; the answer goes on with this round. */
  | { readonly type: 'recovered'; readonly round: number; readonly ms: number }
  /** The answer is constrained. `ms`: what compiling took, or finding what was compiled before. */
  | {
      readonly type: 'constraint';
      /** `reasoning`: only its length is limited. */
      readonly kind: 'json_schema' | 'regex' | 'grammar' | 'choice' | 'reasoning';
      readonly cached: boolean;
      readonly ms: number;
    }
  /** The prompt's own tokens with their log-probabilities, where they were asked for; null of the first. */
  | {
      readonly type: 'prompt';
      readonly text: string | null;
      readonly tokens: readonly (Omit<TokenLogprob, 'logprob'> & { readonly logprob: number | null })[];
      readonly ms: number;
    }
  /** `text` is the whole answer; `stop` the token or string that ended it. */
  | {
      readonly type: 'done';
      readonly finish_reason: 'stop' | 'length' | 'aborted';
      readonly stop: number | string | null;
      readonly text: string | null;
      /**
       * Of a constrained answer. `valid`: it fulfils the constraint; false where it was cut off. `forced`: tokens that were
       * committed without a choice. `masked`: draws of its tokens that needed a mask. `ms`: time spent in the grammar.
       */
      readonly constraint?: {
        readonly valid: boolean;
        readonly forced: number;
        readonly masked: number;
        readonly ms: number;
      };
    }
);

/** The kinds of events. */
export type TraceEventType = TraceEvent['type'];
/** The events of one kind. */
export type EventOf<Type extends TraceEventType> = Extract<TraceEvent, { readonly type: Type }>;

/** A system says what it did; the engine stamps the time. */
export type Emit = (event: TraceEvent extends infer E ? (E extends TraceEvent ? Omit<E, 'at'> : never) : never) => void;
