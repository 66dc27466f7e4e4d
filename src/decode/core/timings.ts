// How long rounds take on this device: the shortest time of the latest ones, because other work on the machine only
// ever makes a round slower. The first round of a kind does not count: it compiles shaders.

/** The latest rounds of a kind that are remembered. */
const LATEST = 7;
/** How many of them make a figure: code that has just been loaded runs slowly for a while. */
const ENOUGH = 2;

class Recent {
  readonly #latest: number[] = [];
  #seen = 0;

  add(ms: number): void {
    if (this.#seen++ === 0) return; // it compiled shaders
    this.#latest.push(ms);
    if (this.#latest.length > LATEST) this.#latest.shift();
  }

  least(enough: number): number | null {
    return this.#latest.length >= enough ? Math.min(...this.#latest) : null;
  }
}

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

  add(kind: string, ms: number): void {
    const recent = this.#rounds.get(kind) ?? new Recent();
    this.#rounds.set(kind, recent);
    recent.add(ms);
  }

  /** Milliseconds; null before `enough` rounds of this kind, the first one not counted. */
  least(kind: string, enough = ENOUGH): number | null {
    return this.#rounds.get(kind)?.least(enough) ?? null;
  }
}
