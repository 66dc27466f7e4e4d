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
 * Prices are made of the plain rounds of their time (timings.ts). So after this many speculative rounds in a row that
 * commit hardly more than plain ones would in their time, two rounds are plain and are timed. So they are before the run
 * falls back: what looked like a loss may have been another moment's speed.
 */
const CHECK = { rounds: 16, gain: 1.5, plain: 2 } as const;
/** The most rounds whose price may still change. */
const UNSETTLED = 2 * CHECK.rounds;

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
  /** Where the ledger is kept: with the timings, so that gains of earlier runs count, unless the seed alone may decide. */
  readonly #kept: { ledger: Ledger };
  /** The ledger without rounds whose price may still change: those since plain ones were timed, or of an unknown price. */
  #settled: Ledger;
  #open: FinishedRound[] = [];
  /** Plain rounds that were timed since the last check, and those that are still to be timed by this one. */
  #timed = 0;
  #checking = 0;
  #pause: number = PAUSE.least;
  /** Tokens committed when the run fell back; null while it speculates. */
  #paused: number | null = null;
  /** What the last speculative round lost. */
  #lastLoss = 0;
  /** Rounds since the run began to speculate, for the event that says why it stopped. */
  #speculated: { readonly ms: number; readonly tokens: number }[] = [];

  constructor(options: FallbackOptions) {
    this.#options = options;
    this.#kept = options.byClock ? options.timings : { ledger: newLedger() };
    this.#settled = this.#kept.ledger;
  }

  /** Whether this round may speculate. */
  next(round: number): boolean {
    if (this.#checking > 0) return false;
    if (this.#paused === null) return true;
    const { committed, lost } = this.#kept.ledger;
    const affordable = SHARE * committed >= Math.max(0, lost) + this.#lastLoss;
    if (!affordable || committed - this.#paused < this.#pause) return false;
    this.#pause = Math.min(PAUSE.most, 2 * this.#pause);
    this.#paused = null;
    this.#settled = { ...this.#settled, balance: -this.#allowance };
    this.#emitSwitch(round, 'speculation');
    this.#speculated = [];
    return true;
  }

  /** After a plain round of `ms` milliseconds. */
  plain(round: number, ms: number): void {
    this.#settled = { ...this.#settled, committed: this.#settled.committed + 1 };
    this.#addPlain(ms);
    if (this.#checking > 0 && --this.#checking === 0 && this.#loses) this.#stop(round);
  }

  /**
   * After a speculative round of `ms` milliseconds that committed `tokens` tokens. `single`: what its pass took, if that
   * had one row and nothing else was done meanwhile: then it also times plain rounds.
   */
  speculative(round: number, kind: RoundKind, ms: number, tokens: number, single?: number): void {
    this.#options.timings.addRound(roundName(kind), ms);
    this.#speculated.push({ ms, tokens });
    this.#open.push({ kind, tokens });
    if (this.#open.length > UNSETTLED) this.#settle(this.#open.slice(0, 1));
    this.#reckon();
    if (single !== undefined) this.#addPlain(single);
    if (this.#kept.ledger.balance >= 0) this.#pause = PAUSE.least;
    const { byClock, fallBack } = this.#options;
    if (!fallBack) return;
    if (byClock && (this.#loses || this.#checkDue)) this.#checking = CHECK.plain;
    else if (this.#loses) this.#stop(round);
  }

  #stop(round: number): void {
    this.#paused = this.#kept.ledger.committed;
    this.#emitSwitch(round, 'plain');
  }

  #addPlain(ms: number): void {
    this.#options.timings.addPlain(ms);
    if (++this.#timed >= CHECK.plain) {
      this.#timed = 0;
      this.#settle(this.#open.filter(({ kind }) => this.#options.cost(kind) !== null));
    }
    this.#reckon();
  }

  #settle(rounds: readonly FinishedRound[]): void {
    this.#settled = rounds.reduce((ledger, each) => this.#enter(ledger, each), this.#settled);
    this.#open = this.#open.filter((each) => !rounds.includes(each));
  }

  /** Enters the rounds that are not settled, at what they seem to cost now. */
  #reckon(): void {
    this.#kept.ledger = this.#open.reduce((ledger, each) => this.#enter(ledger, each), this.#settled);
  }

  #enter({ balance, lost, committed }: Ledger, { kind, tokens }: FinishedRound): Ledger {
    const cost = this.#options.cost(kind);
    const loss = cost === null ? 0 : cost - tokens;
    if (cost !== null) this.#lastLoss = Math.max(0, loss);
    return { balance: Math.min(CREDIT, balance - loss), lost: lost + loss, committed: committed + tokens };
  }

  get #loses(): boolean {
    return this.#kept.ledger.balance < -this.#allowance && this.#lastLoss > 0;
  }

  /** Whether as many rounds as make a check gained little. */
  get #checkDue(): boolean {
    if (this.#open.length < CHECK.rounds) return false;
    const sum = (of: (each: FinishedRound) => number) => this.#open.reduce((all, each) => all + of(each), 0);
    return sum(({ tokens }) => tokens) < CHECK.gain * sum(({ kind }) => this.#options.cost(kind) ?? 1);
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
