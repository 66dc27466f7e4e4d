// How long rounds take on this device, and what a speculative one costs in plain ones. The first round of a kind does not
// count: it compiles shaders.
import { median } from '../../base/statistics.ts';

/** The latest rounds of a kind that are remembered. */
const LATEST = 7;
/** How many of them make a figure: code that has just been loaded runs slowly for a while. */
const ENOUGH = 2;
/** Plain rounds that say how fast the machine is at a moment. */
const PLAIN = 3;

class Recent<T> {
  readonly values: T[] = [];
  readonly #most: number;
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: T): void {
    if (this.#seen++ === 0) return; // it compiled shaders
    this.values.push(value);
    if (this.values.length > this.#most) this.values.shift();
  }
}

const recentOf = <T>(known: Map<string, Recent<T>>, kind: string, most: number): Recent<T> => {
  const recent = known.get(kind) ?? new Recent<T>(most);
  known.set(kind, recent);
  return recent;
};

/** A round, and when it ended: in milliseconds of all rounds so far. */
interface Timed {
  readonly ms: number;
  readonly end: number;
}

interface Priced extends Timed {
  /** In plain rounds. */
  price: number;
}

/** What a source of drafts gained and lost, in plain tokens (source-balance.ts). */
export interface Ledger {
  /** Gains less losses of late; the source is paused when it is below the allowance. */
  readonly balance: number;
  /** All losses less all gains. */
  readonly lost: number;
  readonly committed: number;
}

/** Drafts in one place of a chain: how many were tested, and how many of them were kept (chain-depth.ts). */
export interface Place {
  tested: number;
  kept: number;
}

export const NEW_LEDGER: Ledger = { balance: 0, lost: 0, committed: 0 };

/** One for each system and set of models; kept between runs. */
export class Timings {
  /** By the role that drafts. */
  readonly ledgers = new Map<string, Ledger>();
  readonly places: Place[] = [];
  readonly #rounds = new Map<string, Recent<number>>();
  /** Some before the last speculative rounds, and some after them. */
  readonly #plain = new Recent<Timed>(2 * PLAIN);
  readonly #costs = new Map<string, Recent<Priced>>();
  /** Rounds after which fewer than `PLAIN` plain ones were timed. */
  #unsettled: { readonly round: Priced; after: number }[] = [];
  #now = 0;

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

  /** A plain round, or a pass of one row, which takes as long. A time of 0 is of a clock too coarse to see it. */
  addPlain(ms: number): void {
    if (ms === 0) return;
    this.#plain.add({ ms, end: this.#pass(ms) });
    this.#unsettled = this.#unsettled.filter((each) => {
      const plain = this.#plainAt(each.round.end);
      if (plain !== null) each.round.price = each.round.ms / plain;
      return ++each.after < PLAIN;
    });
  }

  /** Milliseconds of a plain round now; null before two of them, the first one not counted. */
  get plain(): number | null {
    return this.#plainAt(this.#now);
  }

  /**
   * A speculative round. It is priced by the plain rounds nearest to it, so its price may still change: the machine's
   * speed changes within seconds, and a price made of two moments would say more of them than of the round.
   */
  addRound(kind: string, ms: number): void {
    if (ms === 0) return;
    const end = this.#pass(ms);
    const plain = this.#plainAt(end);
    if (plain === null) return;
    const round = { ms, end, price: ms / plain };
    recentOf(this.#costs, kind, LATEST).add(round);
    this.#unsettled.push({ round, after: 0 });
  }

  /** In plain rounds; null before `enough` rounds of this kind, the first one not counted. */
  cost(kind: string, enough = ENOUGH): number | null {
    const { values } = recentOf(this.#costs, kind, LATEST);
    return values.length >= enough ? median(values.map(({ price }) => price)) : null;
  }

  #pass(ms: number): number {
    this.#now += ms;
    return this.#now;
  }

  #plainAt(end: number): number | null {
    const { values } = this.#plain;
    const far = (each: Timed) => Math.abs(each.end - end);
    const nearest = values.toSorted((a, b) => far(a) - far(b)).slice(0, PLAIN);
    return nearest.length >= ENOUGH ? median(nearest.map(({ ms }) => ms)) : null;
  }
}
