// How long rounds take on this device: the quickest of the latest ones. Other work on the machine only ever makes a
// round slower, and the first of a kind compiles shaders.

/** Rounds that count … */
const LATEST = 7;
/** … and how many of them make a figure: code that has just been loaded runs slowly for a while. */
const ENOUGH = 2;

class Recent {
  readonly #latest: number[] = [];
  #seen = 0;

  add(ms: number): void {
    if (this.#seen++ === 0) return; // it warmed up
    this.#latest.push(ms);
    if (this.#latest.length > LATEST) this.#latest.shift();
  }

  least(enough: number): number | null {
    return this.#latest.length >= enough ? Math.min(...this.#latest) : null;
  }
}

/** Of speculation, in plain tokens (fallback.ts). */
export interface Ledger {
  /** What may be lost before a run falls back, and less. */
  account: number;
  /** Net; negative: gained. */
  lost: number;
  committed: number;
}

export const newLedger = (): Ledger => ({ account: 0, lost: 0, committed: 0 });

/** One for each system and set of models; kept between runs. */
export class Timings {
  readonly ledger = newLedger();
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
