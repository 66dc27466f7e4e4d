// Entries of device memory that are handed out one after the other and reused, for values that last a round. Each has a
// serial number, so that an entry which has been reused is refused instead of being read as another value.

export class Ring {
  readonly #entries: number;
  readonly #what: string;
  #next = 0;

  constructor(entries: number, what: string) {
    this.#entries = entries;
    this.#what = what;
  }

  /** The serial number of the first of `count` neighbouring entries. */
  take(count: number): number {
    const left = this.#entries - (this.#next % this.#entries);
    const first = this.#next + (left < count ? left : 0);
    this.#next = first + count;
    return first;
  }

  entry(serial: number): number {
    if (serial < 0 || serial >= this.#next || this.#next - serial > this.#entries)
      throw new Error(`${this.#what} ${serial} is over: the ring stands at ${this.#next}`);
    return serial % this.#entries;
  }
}
