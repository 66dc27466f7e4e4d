// Where the rows of a pass come from.
import type { Row } from '../../kernels/cache/rows.ts';
import type { Past } from '../cache/visibility.ts';
import type { GrownTree } from './device-tree.ts';

/** Rows [first, first + count) of a pass, as blocks of this window see them. */
export type RowsOf = (window: number | null, first: number, count: number) => readonly Row[];

/** Rows of a pass that follow one past: a tree. */
export interface TreePart {
  readonly past: Past;
  readonly count: number;
  /** Rows that the sequence is known to have at the end, or 0. */
  readonly length: number;
  /** See Row. */
  readonly sources?: number | undefined;
}

export type PassRows =
  /** The host knows them. They are the nodes of these trees, in order; needed where the cache may compute rows anew. */
  | { readonly from: 'host'; readonly count: number; readonly rows: RowsOf; readonly trees?: readonly TreePart[] }
  /** They are the nodes of a tree that a drafter grew on the device, after `past`. */
  | { readonly from: 'tree'; readonly count: number; readonly tree: GrownTree; readonly past: Past }
  /** A kernel has written them; they see slots below `keys`. */
  | { readonly from: 'device'; readonly count: number; readonly keys: number }
  /** No body runs: the stream already holds the hidden states of so many rows. */
  | { readonly from: 'stream'; readonly count: number };
