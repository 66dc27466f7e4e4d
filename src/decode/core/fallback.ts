// Off when losing. An account of plain tokens: a speculative round pays in the tokens it committed and takes out what it
// cost, in plain rounds. When the account is overdrawn the run falls back to plain decoding, and tries again when one
// more lost round would still keep all losses below a small share of the run. So text on which nothing is accepted costs
// at most that share and the overdraft (a few tokens), however bad the drafter is, and a run of bad luck in text that
// usually goes well is paid for by what was gained before.
import type { Emit } from '../../trace/index.ts';
import { type Ledger, newLedger, type Timings } from './timings.ts';

/** Plain tokens that may be lost before the run falls back, or as many as take this long: nobody notices less. */
const OVERDRAFT = { tokens: 4, ms: 15 } as const;
/** The gain that is remembered against losses to come: text changes. */
const CREDIT = 4;
/**
 * Of all tokens: what all losses together may come to before another trial. Keeping a drafter's context while it does not
 * draft costs about one token in a hundred more (docs/log.md), and both together are to stay below three.
 */
const SHARE = 0.015;
/** Plain rounds before a trial, doubled by each that fails. */
const PAUSE = { least: 16, most: 512 } as const;

/**
 * Plain rounds are timed before drafting begins. A busy moment then would make them look dear for as long as drafting goes
 * on, and drafting look good: where so many rounds on end commit hardly more than a plain one would, one is plain, to see.
 */
const DOUBT = { rounds: 16, tokens: 1.5 } as const;

/** Rounds of a kind before its cost is believed. */
const SURE = 4;

/** What a speculative round was: rounds of one kind cost the same. */
export interface RoundKind {
  /** Rows that the target verified. */
  readonly nodes: number;
  /** Passes of the drafter. */
  readonly passes: number;
}

/** Costs in plain rounds; null where they are not known yet. */
export type Cost = (kind: RoundKind) => number | null;

/** Under which rounds of a kind are timed: the device pads their rows to a power of two. */
export const roundName = ({ nodes, passes }: RoundKind): string => `${passes}+${2 ** Math.ceil(Math.log2(nodes))}`;

export const measuredCost =
  (timings: Timings): Cost =>
  (kind) => {
    const [speculative, plain] = [timings.least(roundName(kind), SURE), timings.least('plain')];
    return speculative !== null && plain !== null ? speculative / plain : null;
  };

/**
 * For drafts that were drawn: which of their rounds are plain decides what is drawn, so a clock may not decide it, or one
 * seed would give two answers. A line through what rounds cost on the slowest adapters (docs/log.md).
 */
export const assumedCost: Cost = ({ nodes, passes }) => 1.2 + 0.15 * nodes + 0.3 * passes;

export interface PaceOptions {
  readonly timings: Timings;
  readonly cost: Cost;
  readonly emit: Emit;
  /** False: speculate whatever it costs. */
  readonly fallBack: boolean;
}

/** A round and what it committed. */
interface Paid {
  readonly kind: RoundKind;
  readonly tokens: number;
}

export class FallbackController {
  readonly #options: PaceOptions;
  readonly #ledger: Ledger;
  #pause: number = PAUSE.least;
  /** Tokens committed when the run fell back; null while it speculates. */
  #paused: number | null = null;
  /** Rounds of kinds whose cost is not known yet: settled as soon as it is. */
  #unsettled: Paid[] = [];
  /** What the last speculative round lost, and its time for each token. */
  #lastLoss = 0;
  #latest: { readonly ms: number; readonly tokens: number }[] = [];
  /** Speculative rounds since the last plain one. */
  #since = { rounds: 0, tokens: 0 };

  constructor(options: PaceOptions) {
    this.#options = options;
    // What was gained in earlier runs stands good for bad luck in this one, unless the seed alone may decide.
    this.#ledger = options.cost === assumedCost ? newLedger() : options.timings.ledger;
  }

  /** Whether this round may speculate. */
  next(round: number): boolean {
    if (this.#paused === null) return !this.#doubts;
    const affordable = SHARE * this.#ledger.committed >= Math.max(0, this.#ledger.lost) + this.#lastLoss;
    if (!affordable || this.#ledger.committed - this.#paused < this.#pause) return false;
    this.#pause = Math.min(PAUSE.most, 2 * this.#pause);
    this.#paused = null;
    this.#ledger.account = -this.#overdraft;
    this.#tell(round, 'speculation');
    this.#latest = [];
    return true;
  }

  plain(ms: number): void {
    this.#options.timings.add('plain', ms);
    this.#ledger.committed++;
    this.#since = { rounds: 0, tokens: 0 };
  }

  speculative(round: number, kind: RoundKind, ms: number, tokens: number): void {
    this.#options.timings.add(roundName(kind), ms);
    this.#ledger.committed += tokens;
    this.#since = { rounds: this.#since.rounds + 1, tokens: this.#since.tokens + tokens };
    this.#latest.push({ ms, tokens });
    this.#unsettled.push({ kind, tokens });
    this.#unsettled = this.#unsettled.filter((each) => !this.#settle(each));
    if (this.#ledger.account >= 0) this.#pause = PAUSE.least;
    if (!this.#options.fallBack || this.#ledger.account >= -this.#overdraft || this.#lastLoss === 0) return;
    this.#paused = this.#ledger.committed;
    this.#tell(round, 'plain');
  }

  /** Whether it could be: the cost of its kind is known. */
  #settle({ kind, tokens }: Paid): boolean {
    const cost = this.#options.cost(kind);
    if (cost === null) return false;
    const loss = cost - tokens;
    this.#lastLoss = Math.max(0, loss);
    this.#ledger.lost += loss;
    this.#ledger.account = Math.min(CREDIT, this.#ledger.account - loss);
    return true;
  }

  /** Never where the seed alone may decide which rounds are plain. */
  get #doubts(): boolean {
    const { rounds, tokens } = this.#since;
    const { fallBack, cost } = this.#options;
    return fallBack && cost !== assumedCost && rounds >= DOUBT.rounds && tokens < DOUBT.tokens * rounds;
  }

  /** In plain rounds. */
  get #overdraft(): number {
    const { cost, timings } = this.#options;
    const plain = cost === assumedCost ? null : timings.least('plain');
    return plain === null ? OVERDRAFT.tokens : Math.max(OVERDRAFT.tokens, OVERDRAFT.ms / plain);
  }

  #tell(round: number, to: 'plain' | 'speculation'): void {
    const tokens = this.#latest.reduce((sum, each) => sum + each.tokens, 0);
    const ms = this.#latest.reduce((sum, each) => sum + each.ms, 0);
    const { emit, timings } = this.#options;
    const speculative_ms = tokens > 0 ? ms / tokens : null;
    emit({ type: 'fall-back', round, to, speculative_ms, plain_ms: timings.least('plain') });
  }
}
