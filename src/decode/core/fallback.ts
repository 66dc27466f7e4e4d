// Falls back to plain decoding while drafting loses time. Gains and losses are counted in plain rounds, each of which
// commits one token: a speculative round gains the tokens that it committed and loses what it cost. When the balance falls
// below the allowance, the run decodes plainly. It drafts again when one more lost round would keep all losses below a
// small share of the run's tokens. So text on which no draft is kept costs at most that share and the allowance (a few
// tokens), however bad the drafter is. In text that usually goes well, earlier gains make up for a few bad rounds.
import type { Emit } from '../../trace/index.ts';
import { type Cost, type RoundKind, roundName } from './round-cost.ts';
import { type Ledger, newLedger, type Timings } from './timings.ts';

/** Plain tokens that may be lost before the run falls back, or as many as take this long: too little to be noticed. */
const ALLOWANCE = { tokens: 4, ms: 15 } as const;
/** The gain that is remembered against later losses; no more, because text changes. */
const CREDIT = 4;
/**
 * The share of all tokens that all losses together may reach before another try. Keeping a drafter's context while it
 * does not draft costs about one token in a hundred more (docs/log/speculation.md), and both together must stay below three in a hundred.
 */
const SHARE = 0.015;
/** Plain rounds before the next try, doubled by each try that fails. */
const PAUSE = { least: 16, most: 512 } as const;

/**
 * Plain rounds are timed before drafting begins. Timed in a busy moment, they would look expensive, and drafting cheap,
 * for as long as drafting goes on. So after this many speculative rounds in a row that commit hardly more than plain
 * ones would in their time, two rounds are plain and are timed again.
 */
const RECHECK = { rounds: 16, gain: 1.5, plain: 2 } as const;

export interface FallbackOptions {
  readonly timings: Timings;
  readonly cost: Cost;
  /** False: the seed alone may decide which rounds are plain, so `cost` does not depend on the clock either. */
  readonly byClock: boolean;
  readonly emit: Emit;
  /** False: speculate whatever it costs. */
  readonly fallBack: boolean;
}

/** A round and what it committed. */
interface FinishedRound {
  readonly kind: RoundKind;
  readonly tokens: number;
}

export class FallbackController {
  readonly #options: FallbackOptions;
  readonly #ledger: Ledger;
  #pause: number = PAUSE.least;
  /** Tokens committed when the run fell back; null while it speculates. */
  #paused: number | null = null;
  /** Rounds whose cost is not known yet: they are entered in the ledger as soon as it is. */
  #unpriced: FinishedRound[] = [];
  /** What the last speculative round lost. */
  #lastLoss = 0;
  /** Rounds since the run began to speculate, for the event that says why it stopped. */
  #speculated: { readonly ms: number; readonly tokens: number }[] = [];
  /** Speculative rounds since plain ones were timed, and plain ones since then. */
  #since = { rounds: 0, tokens: 0, cost: 0, plain: 0 };

  constructor(options: FallbackOptions) {
    this.#options = options;
    // Gains of earlier runs count against losses in this one, unless the seed alone may decide.
    this.#ledger = options.byClock ? options.timings.ledger : newLedger();
  }

  /** Whether this round may speculate. */
  next(round: number): boolean {
    if (this.#paused === null) return !this.#recheckDue;
    const affordable = SHARE * this.#ledger.committed >= Math.max(0, this.#ledger.lost) + this.#lastLoss;
    if (!affordable || this.#ledger.committed - this.#paused < this.#pause) return false;
    this.#pause = Math.min(PAUSE.most, 2 * this.#pause);
    this.#paused = null;
    this.#ledger.balance = -this.#allowance;
    this.#emitSwitch(round, 'speculation');
    this.#speculated = [];
    return true;
  }

  /** After a plain round of `ms` milliseconds. */
  plain(ms: number): void {
    this.#options.timings.addPlain(ms);
    this.#ledger.committed++;
    const plain = this.#since.plain + 1;
    this.#since = plain < RECHECK.plain ? { ...this.#since, plain } : { rounds: 0, tokens: 0, cost: 0, plain: 0 };
  }

  /** After a speculative round of `ms` milliseconds that committed `tokens` tokens. */
  speculative(round: number, kind: RoundKind, ms: number, tokens: number): void {
    this.#options.timings.addRound(roundName(kind), ms);
    this.#ledger.committed += tokens;
    const since = this.#since;
    const cost = since.cost + (this.#options.cost(kind) ?? 1);
    this.#since = { rounds: since.rounds + 1, tokens: since.tokens + tokens, cost, plain: 0 };
    this.#speculated.push({ ms, tokens });
    this.#unpriced.push({ kind, tokens });
    this.#unpriced = this.#unpriced.filter((each) => !this.#enter(each));
    if (this.#ledger.balance >= 0) this.#pause = PAUSE.least;
    if (!this.#options.fallBack || this.#ledger.balance >= -this.#allowance || this.#lastLoss === 0) return;
    this.#paused = this.#ledger.committed;
    this.#emitSwitch(round, 'plain');
  }

  /** Enters a round in the ledger; false while the cost of its kind is not known. */
  #enter({ kind, tokens }: FinishedRound): boolean {
    const cost = this.#options.cost(kind);
    if (cost === null) return false;
    const loss = cost - tokens;
    this.#lastLoss = Math.max(0, loss);
    this.#ledger.lost += loss;
    this.#ledger.balance = Math.min(CREDIT, this.#ledger.balance - loss);
    return true;
  }

  /** Never where the seed alone may decide which rounds are plain. */
  get #recheckDue(): boolean {
    const { rounds, tokens, cost } = this.#since;
    const { fallBack, byClock } = this.#options;
    return fallBack && byClock && rounds >= RECHECK.rounds && tokens < RECHECK.gain * cost;
  }

  /** In plain rounds. */
  get #allowance(): number {
    const { byClock, timings } = this.#options;
    const plain = byClock ? timings.plain : null;
    return plain === null ? ALLOWANCE.tokens : Math.max(ALLOWANCE.tokens, ALLOWANCE.ms / plain);
  }

  #emitSwitch(round: number, to: 'plain' | 'speculation'): void {
    const tokens = this.#speculated.reduce((sum, each) => sum + each.tokens, 0);
    const ms = this.#speculated.reduce((sum, each) => sum + each.ms, 0);
    const { emit, timings } = this.#options;
    const speculative_ms = tokens > 0 ? ms / tokens : null;
    emit({ type: 'fall-back', round, to, speculative_ms, plain_ms: timings.plain });
  }
}
