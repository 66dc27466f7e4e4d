// How long rounds take on this device, as medians of the latest ones: a busy machine makes single rounds arbitrarily
// slow, and the first of a kind compiles shaders.

/** Rounds that count. */
const LATEST = 7;

class Recent {
  readonly #latest: number[] = [];
  #seen = 0;

  add(ms: number): void {
    if (this.#seen++ === 0) return; // it warmed up
    this.#latest.push(ms);
    if (this.#latest.length > LATEST) this.#latest.shift();
  }

  get median(): number | null {
    const sorted = this.#latest.toSorted((a, b) => a - b);
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
  }
}

/** One for each system and set of models; kept between runs. */
export class Timings {
  readonly #rounds = new Map<string, Recent>();

  add(kind: string, ms: number): void {
    const recent = this.#rounds.get(kind) ?? new Recent();
    this.#rounds.set(kind, recent);
    recent.add(ms);
  }

  /** Milliseconds; null before the second round of this kind. */
  median(kind: string): number | null {
    return this.#rounds.get(kind)?.median ?? null;
  }
}
