// How long to draft, from the share of drafts that were kept. It goes by counts alone, never by the clock: where drafts
// are drawn at random, their number decides what is drawn, and one seed must give one answer.

/** Older rounds count less: text changes. */
const DECAY = 0.9;
/** What is assumed before anything was seen: 8 of 10 drafts kept. */
const BEGIN = { kept: 8, tested: 10 } as const;

export class Acceptance {
  readonly #worth: number;
  readonly #most: number;
  #kept: number = BEGIN.kept;
  #tested: number = BEGIN.tested;

  /** A draft is made if it is kept with a probability of `worth`, its own cost in tokens; at least one, at most `most`. */
  constructor(worth: number, most: number) {
    this.#worth = worth;
    this.#most = most;
  }

  /** The first draft that was refused counts as tested, those behind it do not. */
  add(drafts: number, kept: number): void {
    this.#kept = DECAY * this.#kept + kept;
    this.#tested = DECAY * this.#tested + Math.min(drafts, kept + 1);
  }

  get drafts(): number {
    const rate = Math.min(0.99, Math.max(0.01, this.#kept / this.#tested));
    return Math.max(1, Math.min(this.#most, Math.floor(Math.log(this.#worth) / Math.log(rate))));
  }
}
