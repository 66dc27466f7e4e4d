// How many slots a cache has, and how many of them a layer keeps: a layer with a window keeps a ring.
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import type { Architecture } from '../architecture.ts';
import { MOST_NODES } from '../limits.ts';

export interface CacheRows {
  /** Positions that it can hold. */
  readonly positions: number;
  /** Memory for forks, besides the positions. */
  readonly forks: { readonly count: number; readonly room: number };
  /** Rows before its window that a layer keeps too; absent: all. */
  readonly spare?: number | undefined;
}

const wholeChunks = (slots: number): number => Math.ceil(slots / CHUNK) * CHUNK;

/** Where the forks of a cursor of `length` rows begin, and how many slots each takes. */
export const forkSlots = (length: number, room: number) => {
  // Sums over keys run chunk by chunk, so a fork must meet its keys in the chunks that a causal run has them in: it
  // shares whole chunks only, and begins with a copy of the rows in the last, unfinished one.
  const shared = Math.floor(length / CHUNK) * CHUNK;
  return { shared, start: wholeChunks(length), span: wholeChunks(length - shared + room) };
};

const allForks = ({ count, room }: CacheRows['forks']): number => count * wholeChunks(CHUNK - 1 + room);

/** Slots for the committed rows, a provisional tree after them, and the forks. */
export const cacheSlots = ({ positions, forks }: CacheRows): number =>
  wholeChunks(positions + MOST_NODES) + allForks(forks);

/** The largest window of the layers; null where none has one. */
export const largestWindow = ({ blocks }: Pick<Architecture, 'blocks'>): number | null => {
  const windows = blocks.flatMap(({ mixer }) => (mixer.kind === 'attention' ? (mixer.window ?? []) : []));
  return windows.length > 0 ? Math.max(...windows) : null;
};

/**
 * Slots that a layer with a window keeps, a multiple of 64: the window, the spare rows, a tree or the forks after them,
 * and the chunk that these may begin in. Null where all slots are no more than that.
 */
export const ringSlots = (architecture: Pick<Architecture, 'blocks'>, rows: CacheRows): number | null => {
  const window = largestWindow(architecture);
  if (rows.spare === undefined || window === null) return null;
  if (architecture.blocks.some(({ mixer }) => mixer.kind !== 'attention')) return null; // their states go along all rows
  const slots = wholeChunks(window + rows.spare + MOST_NODES + CHUNK) + allForks(rows.forks);
  return slots < cacheSlots(rows) ? slots : null;
};
