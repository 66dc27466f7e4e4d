import { refuse } from '../../base/refuse.ts';

/** The rows of one text that a judge's model holds; later texts may go on from any of them. */
export abstract class JudgeRows implements Disposable {
  /** The most rows. */
  readonly capacity: number;
  readonly #close: () => void;
  #length = 0;

  constructor(capacity: number, close: () => void) {
    this.capacity = capacity;
    this.#close = close;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets the rows from `length` on. Throws `bad-request` where it does not hold so many. */
  rewind(length: number): void {
    if (!Number.isInteger(length) || length < 0 || length > this.#length)
      throw refuse(`rewind to ${length}: the cursor holds 0 to ${this.#length} rows`);
    this.#length = length;
  }

  /** After a pass over `count` more rows. */
  protected grow(count: number): void {
    this.#length += count;
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}
