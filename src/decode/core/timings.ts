// How long rounds take on this device, and what a speculative one costs in plain ones. The first round of a kind does not
// count: it compiles shaders.
import { median } from '../../base/statistics.ts';

/** The latest rounds of a kind that are remembered. */
const LATEST = 7;
/** How many of them make a figure: code that has just been loaded runs slowly for a while. */
const ENOUGH = 2;
/** Plain rounds that say how fast the machine is now. */
const PLAIN = 3;

class Recent {
  readonly values: number[] = [];
  readonly #most: number;
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: number): void {
    if (this.#seen++ === 0) return; // it compiled shaders
    this.values.push(value);
    if (this.values.length > this.#most) this.values.shift();
  }
}

const recentOf = (known: Map<string, Recent>, kind: string, most: number): Recent => {
  const recent = known.get(kind) ?? new Recent(most);
  known.set(kind, recent);
  return recent;
};

/** What speculation gained and lost, in plain tokens (fallback.ts). */
export interface Ledger {
  /** Gains less losses of late; a run falls back when it is below the allowance. */
  balance: number;
  /** All losses less all gains. */
  lost: number;
  committed: number;
}

/** Drafts in one place of a chain: how many were tested, and how many of them were kept (chain-depth.ts). */
export interface Place {
  tested: number;
  kept: number;
}

export const newLedger = (): Ledger => ({ balance: 0, lost: 0, committed: 0 });

/** One for each system and set of models; kept between runs. */
export class Timings {
  readonly ledger = newLedger();
  readonly places: Place[] = [];
  readonly #rounds = new Map<string, Recent>();
  readonly #plain = new Recent(PLAIN);
  readonly #costs = new Map<string, Recent>();

  /** Rounds that are compared with each other alone, because they took turns. */
  add(kind: string, ms: number): void {
    recentOf(this.#rounds, kind, LATEST).add(ms);
  }

  /**
   * Milliseconds; null before `enough` rounds of this kind, the first one not counted. The shortest time: other work on
   * the machine only ever makes a round slower.
   */
  least(kind: string, enough = ENOUGH): number | null {
    const { values } = recentOf(this.#rounds, kind, LATEST);
    return values.length >= enough ? Math.min(...values) : null;
  }

  addPlain(ms: number): void {
    this.#plain.add(ms);
  }

  /** Milliseconds of a plain round now; null before two of them, the first one not counted. */
  get plain(): number | null {
    const { values } = this.#plain;
    return values.length >= ENOUGH ? median(values) : null;
  }

  /**
   * A speculative round. It is priced by the plain rounds of the time: the machine's speed changes within seconds, and a
   * price made of two moments would say more of them than of the round.
   */
  addRound(kind: string, ms: number): void {
    const { plain } = this;
    if (plain !== null) recentOf(this.#costs, kind, LATEST).add(ms / plain);
  }

  /** In plain rounds; null before `enough` rounds of this kind, the first one not counted. */
  cost(kind: string, enough = ENOUGH): number | null {
    const { values } = recentOf(this.#costs, kind, LATEST);
    return values.length >= enough ? median(values) : null;
  }
}
