// How long to draft, from the share of drafts that were kept. It goes by counts alone, never by the clock: where drafts
// are drawn at random, their number decides what is drawn, and one seed must give one answer.

export interface AcceptanceOptions {
  /** What a draft costs, in tokens: it is made if it is kept with at least this probability. */
  readonly cost: number;
  readonly most: number;
  /** The share that is assumed before the first round. */
  readonly begin: number;
  /** How much an older round counts, for each that came after it. */
  readonly decay: number;
}

export class Acceptance {
  readonly #options: AcceptanceOptions;
  #kept: number;
  #tested: number;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    // The assumed share counts as much as all rounds that decay would remember.
    this.#tested = 1 / (1 - options.decay);
    this.#kept = this.#tested * options.begin;
  }

  /** The first draft that was refused counts as tested, those after it do not. */
  add(drafts: number, kept: number): void {
    const { decay } = this.#options;
    this.#kept = decay * this.#kept + kept;
    this.#tested = decay * this.#tested + Math.min(drafts, kept + 1);
  }

  get #rate(): number {
    return Math.min(0.99, Math.max(0.01, this.#kept / this.#tested));
  }

  get drafts(): number {
    const { cost, most } = this.#options;
    const rate = this.#rate;
    // At least one, so that every round is evidence.
    return Math.max(1, Math.min(most, Math.floor(Math.log(cost) / Math.log(rate))));
  }
}
