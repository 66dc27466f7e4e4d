// Layers with a window keep a ring of slots: a row goes where a row lay that no window reaches any more. A cursor that is
// rewound by more than the spare rows lacks rows that its window sees then, and so do all rows from the first on, because
// each was computed from others before it. The executor computes them anew, from the tokens that the cache has kept.
import type { Move } from '../../kernels/cache/compact.ts';
import { type RowsAnew, rowsAnew } from './rows-anew.ts';
import { lengthOf, type Past, slotsOf } from './visibility.ts';

export class WindowRing {
  /** Of a layer with a window. */
  readonly slots: number;
  readonly #window: number;
  /** The slot of the cache whose row lies at each place of the ring; -1: none. */
  readonly #holds: Int32Array;

  /** `window`: the largest of the layers. */
  constructor(slots: number, window: number) {
    this.slots = slots;
    this.#window = window;
    this.#holds = new Int32Array(slots).fill(-1);
  }

  #has(slot: number): boolean {
    return this.#holds[slot % this.slots] === slot;
  }

  wrote(first: number, count: number): void {
    for (let slot = first; slot < first + count; slot++) this.#holds[slot % this.slots] = slot;
  }

  moved(moves: readonly Move[]): void {
    for (const { from, to } of moves) this.#holds[to % this.slots] = this.#has(from) ? to : -1;
  }

  /** All rows of a past, if the next row's window sees one that is gone; else none. */
  stale(past: Past): readonly RowsAnew[] {
    const length = lengthOf(past);
    const first = Math.max(0, length - this.#window + 1);
    for (const run of slotsOf(past, first, length - first))
      for (let i = 0; i < run.count; i++) if (!this.#has(run.first + i)) return rowsAnew(past, 0, 0);
    return [];
  }
}
