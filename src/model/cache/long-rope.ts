// longrope in a cache. Up to its original length a sequence is rotated by the short factors; every row of a longer one
// is rotated by the long factors. The rows that a shorter sequence has left are then wrong, and not only their keys:
// all later layers saw other keys too. So this keeps which factors each slot's row was computed with, and the executor
// computes rows anew when the sequence crosses the limit, in either direction, from the tokens that the cache has kept.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Move } from '../../kernels/cache/compact.ts';
import { type Architecture, ropesOf } from '../architecture.ts';
import { type Arena, activationBytes } from '../arena.ts';
import { type Rope, type RopeDivisors, ropeTable, type Span } from '../forward/rope-table.ts';
import { MOST_NODES } from '../limits.ts';
import { type RowsAnew, rowsAnew } from './rows-anew.ts';
import { lengthOf, type Past } from './visibility.ts';

/** The length up to which the short factors hold; null where no RoPE depends on the length. */
export const longRopeLimit = (architecture: Pick<Architecture, 'blocks'>): number | null => {
  const limits = ropesOf(architecture).flatMap(({ scaling }) =>
    scaling.type === 'longrope' ? scaling.originalContext : [],
  );
  return limits.length > 0 ? Math.min(...limits) : null;
};

/** The positions whose rotation is switched: those that a short sequence has, and the nodes of a tree after it. */
const switched = (limit: number, positions: number): number => Math.min(positions, limit + MOST_NODES);

/** Bytes of what a cache of so many positions keeps for it, and of 16 rows of logits (`Cache.wide`). */
export const longRopeBytes = (
  architecture: Pick<Architecture, 'blocks' | 'sizes'>,
  positions: number,
): readonly number[] => {
  const limit = longRopeLimit(architecture);
  if (limit === null || positions <= limit) return [];
  const tables = ropesOf(architecture).map(({ dimensions }) => 2 * switched(limit, positions) * dimensions * 4);
  return [...tables, activationBytes(MOST_ROWS, architecture.sizes.vocabulary)];
};

interface SwitchedTable {
  readonly rope: Rope;
  /** The first positions of the table that kernels read. */
  readonly active: Tensor;
  readonly short: Tensor;
  readonly long: Tensor;
}

export class LongRope {
  readonly limit: number;
  readonly #gpu: Gpu;
  readonly #tables: readonly SwitchedTable[];
  /** Which factors each slot's row was computed with. */
  readonly #spans: Span[];
  /** Which factors the tables hold; null before the first pass. */
  #active: Span | null = null;

  constructor(
    gpu: Gpu,
    arena: Arena,
    limit: number,
    {
      slots,
      positions,
      tables,
    }: { readonly slots: number; readonly positions: number; readonly tables: ReadonlyMap<Rope, Tensor> },
  ) {
    this.limit = limit;
    this.#gpu = gpu;
    this.#spans = Array<Span>(slots).fill('short');
    this.#tables = [...tables].map(([rope, table]) => {
      const bytes = switched(limit, positions) * rope.dimensions * 4;
      const store = (span: Span): Tensor => ({ ...arena.storage(bytes, `${span} rope`), bytes });
      return { rope, active: { ...table, bytes }, short: store('short'), long: store('long') };
    });
  }

  /** Writes the tables of both spans. */
  fill(divisors: RopeDivisors): void {
    for (const { rope, active, short, long } of this.#tables)
      for (const [span, { buffer }] of [
        ['short', short],
        ['long', long],
      ] as const)
        this.#gpu.device.queue.writeBuffer(
          buffer,
          0,
          ropeTable(rope, active.bytes / 4 / rope.dimensions, divisors, span),
        );
  }

  /** Of a row at this position, in a sequence of which so many rows are known to come. */
  spanOf(position: number, length: number): Span {
    return Math.max(position + 1, length) > this.limit ? 'long' : 'short';
  }

  /** Rows are rotated by these factors from here on. */
  select(span: Span): void {
    if (this.#active === span) return;
    this.#active = span;
    for (const table of this.#tables) this.#gpu.submission.copy(table[span], table.active);
  }

  /** The rows of these slots were computed with the selected factors. */
  wrote(first: number, count: number): void {
    if (this.#active) this.#spans.fill(this.#active, first, first + count);
  }

  moved(moves: readonly Move[]): void {
    for (const { from, to } of moves) this.#spans[to] = this.#spans[from] as Span;
  }

  /** The rows of a past that other factors have computed, and those after them. */
  stale(past: Past, span: Span): readonly RowsAnew[] {
    const { prefix, start, own } = past;
    const firstStale = (from: number, count: number): number => {
      const at = this.#spans.slice(from, from + count).findIndex((each) => each !== span);
      return at < 0 ? count : at;
    };
    return rowsAnew(past, firstStale(0, prefix), firstStale(start, own));
  }

  /** Levels that the next tree can have while all its rows take the same factors. */
  levels(past: Past): number {
    const left = this.limit - lengthOf(past);
    return left > 0 ? left : Number.POSITIVE_INFINITY;
  }
}
