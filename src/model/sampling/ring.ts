// Entries of device memory handed out in turn, for values that last a round. Each has a serial number, so that a name
// whose entry has been given away again is refused instead of reading another's value.

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
