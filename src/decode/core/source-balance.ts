// Whether one source of drafts gains time. Gains and losses are counted in plain rounds, each of which commits one token:
// a speculative round gains the tokens that it committed and loses what it cost. When the balance falls below the
// allowance, the source is paused. It drafts again when one more lost round would keep all its losses below a small share
// of the run's tokens. So text on which no draft is kept costs at most that share and the allowance (a few tokens),
// however bad the drafter is. In text that usually goes well, earlier gains make up for a few bad rounds.
import type { Cost, RoundKind } from './round-cost.ts';
import { type Ledger, NEW_LEDGER } from './timings.ts';

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
 * commit hardly more than plain ones would in their time, the source leaves out two rounds, which are plain and timed
 * unless another source drafts. So it does before it is paused: what looked like a loss may have been another moment's
 * speed.
 */
const CHECK = { rounds: 16, gain: 1.5, plain: 2 } as const;
/** The most rounds whose price may still change. */
const UNSETTLED = 2 * CHECK.rounds;

/** A round and what it committed. */
interface FinishedRound {
  readonly kind: RoundKind;
  readonly tokens: number;
}

export interface SourceBalanceOptions {
  readonly cost: Cost;
  /** Whether prices may change with time. */
  readonly byClock: boolean;
  /** Where the ledger is kept, and under which name. */
  readonly ledgers: Map<string, Ledger>;
  readonly name: string;
  /** Plain rounds that may be lost. */
  readonly allowance: () => number;
}

export class SourceBalance {
  readonly #options: SourceBalanceOptions;
  /** The ledger without rounds whose price may still change: those since plain ones were timed, or of an unknown price. */
  #settled: Ledger;
  #open: FinishedRound[] = [];
  /** Plain rounds that were timed since the last check, and rounds that this one still leaves out. */
  #timed = 0;
  #checking = 0;
  #pause: number = PAUSE.least;
  /** Tokens committed when it was paused; null while it drafts. */
  #paused: number | null = null;
  /** What its last round lost. */
  #lastLoss = 0;

  constructor(options: SourceBalanceOptions) {
    this.#options = options;
    this.#settled = this.#ledger;
  }

  get paused(): boolean {
    return this.#paused !== null;
  }

  /** Whether it may draft in this round. */
  next(): boolean {
    if (this.#checking > 0) return false;
    if (this.#paused === null) return true;
    const { committed, lost } = this.#ledger;
    const affordable = SHARE * committed >= Math.max(0, lost) + this.#lastLoss;
    if (!affordable || committed - this.#paused < this.#pause) return false;
    this.#pause = Math.min(PAUSE.most, 2 * this.#pause);
    this.#paused = null;
    this.#settled = { ...this.#settled, balance: -this.#options.allowance() };
    return true;
  }

  /** After a round of its own, whose price is known to the timings where it can be. */
  drafted(kind: RoundKind, tokens: number): void {
    this.#open.push({ kind, tokens });
    if (this.#open.length > UNSETTLED) this.#settle(this.#open.slice(0, 1));
    this.#update();
    if (this.#ledger.balance >= 0) this.#pause = PAUSE.least;
    if (this.#options.byClock && (this.#loses || this.#checkDue)) this.#checking = CHECK.plain;
    else if (this.#loses) this.#stop();
  }

  /** After a round without a draft of its own. `plain`: without any. */
  passed(tokens: number, plain: boolean): void {
    this.#settled = { ...this.#settled, committed: this.#settled.committed + tokens };
    if (plain) this.timed();
    else this.#update();
    // While another source drafts no round is plain, and this one must not wait for good.
    if (this.#checking > 0 && --this.#checking === 0 && this.#loses) this.#stop();
  }

  /** After a plain round, or a pass that takes as long, was timed. */
  timed(): void {
    if (++this.#timed >= CHECK.plain) {
      this.#timed = 0;
      this.#settle(this.#open.filter(({ kind }) => this.#options.cost(kind) !== null));
    }
    this.#update();
  }

  get #ledger(): Ledger {
    const { ledgers, name } = this.#options;
    return ledgers.get(name) ?? NEW_LEDGER;
  }

  #stop(): void {
    this.#paused = this.#ledger.committed;
  }

  #settle(rounds: readonly FinishedRound[]): void {
    this.#settled = rounds.reduce((ledger, each) => this.#enter(ledger, each), this.#settled);
    this.#open = this.#open.filter((each) => !rounds.includes(each));
  }

  /** Enters the rounds that are not settled, at what they seem to cost now. */
  #update(): void {
    const { ledgers, name } = this.#options;
    ledgers.set(
      name,
      this.#open.reduce((ledger, each) => this.#enter(ledger, each), this.#settled),
    );
  }

  #enter({ balance, lost, committed }: Ledger, { kind, tokens }: FinishedRound): Ledger {
    const cost = this.#options.cost(kind);
    const loss = cost === null ? 0 : cost - tokens;
    if (cost !== null) this.#lastLoss = Math.max(0, loss);
    return { balance: Math.min(CREDIT, balance - loss), lost: lost + loss, committed: committed + tokens };
  }

  get #loses(): boolean {
    return this.#ledger.balance < -this.#options.allowance() && this.#lastLoss > 0;
  }

  /** Whether as many rounds as make a check gained little. */
  get #checkDue(): boolean {
    if (this.#open.length < CHECK.rounds) return false;
    const sum = (of: (each: FinishedRound) => number) => this.#open.reduce((all, each) => all + of(each), 0);
    return sum(({ tokens }) => tokens) < CHECK.gain * sum(({ kind }) => this.#options.cost(kind) ?? 1);
  }
}
