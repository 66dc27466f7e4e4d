// longrope in a cache. Up to its original length a sequence is rotated by the short factors; every row of a longer one
// is rotated by the long factors. The rows that a shorter sequence has left are then wrong, and not only their keys:
// all later layers saw other keys too. So the cache keeps the token of every slot and which factors its row was computed
// with, and the executor computes rows anew when the sequence crosses the limit, in either direction.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Move } from '../../kernels/cache/compact.ts';
import { keepTokens } from '../../kernels/cache/keep-tokens.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { type Architecture, ropesOf } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import { type Rope, type RopeDivisors, ropeTable, type Span } from '../forward/rope-table.ts';
import { MOST_NODES, MOST_ROWS } from '../limits.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
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

/** Bytes of what a cache of so many positions and slots keeps for it, and of 16 rows of logits (`Cache.wide`). */
export const longRopeBytes = (
  architecture: Pick<Architecture, 'blocks' | 'sizes'>,
  { positions, slots }: { readonly positions: number; readonly slots: number },
): readonly number[] => {
  const limit = longRopeLimit(architecture);
  if (limit === null || positions <= limit) return [];
  const tables = ropesOf(architecture).map(({ dimensions }) => 2 * switched(limit, positions) * dimensions * 4);
  return [slots * 4, ...tables, MOST_ROWS * stride32(architecture.sizes.vocabulary) * 4];
};

interface SwitchedTable {
  readonly rope: Rope;
  /** The first positions of the table that kernels read. */
  readonly active: Tensor;
  readonly short: Tensor;
  readonly long: Tensor;
}

/** Rows to be computed anew: so many, after this past. */
export interface StaleRows {
  readonly past: Past;
  readonly count: number;
}

export class LongRope {
  readonly limit: number;
  /** `[slot]`: the token of each slot's row. */
  readonly tokens: Tensor;
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
    this.tokens = { ...arena.storage(slots * 4, 'tokens'), shape: [slots, 1] };
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

  /** After a body: keeps the tokens of its rows. */
  record(plan: Plan, rows: Tensor, count: number): void {
    keepTokens(plan, { rows, tokenRing: tokenRingOf(this.#gpu).tensor, tokens: this.tokens }, { rows: count });
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

  /** The rows of a past that other factors have computed, and those after them; at most 16 together, in order. */
  stale({ prefix, start, own }: Past, span: Span): readonly StaleRows[] {
    const firstStale = (from: number, count: number): number => {
      const at = this.#spans.slice(from, from + count).findIndex((each) => each !== span);
      return at < 0 ? count : at;
    };
    const rows: StaleRows[] = [];
    for (let row = firstStale(0, prefix); row < prefix; row += MOST_ROWS)
      rows.push({ past: { prefix: row, start: row, own: 0 }, count: Math.min(MOST_ROWS, prefix - row) });
    for (let row = firstStale(start, own); row < own; row += MOST_ROWS)
      rows.push({ past: { prefix, start, own: row }, count: Math.min(MOST_ROWS, own - row) });
    return rows;
  }

  /** Levels that the next tree can have while all its rows take the same factors. */
  levels(past: Past): number {
    const left = this.limit - lengthOf(past);
    return left > 0 ? left : Number.POSITIVE_INFINITY;
  }
}
