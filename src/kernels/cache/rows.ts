// One row of a pass: a token, its position, the cache slot it is written to, and the slots it sees. The host uploads
// the rows of a pass at once, 64 bytes each; every kernel that needs rows reads the same buffer.
//
// A slot j is visible when  first <= j < prefix  (the shared past),  or  start <= j < end  (the row's own range),  or
// bit j - base of the 64-bit mask is set (the row's ancestors in the tree, itself included).
// - Causal chain of n rows after `length` slots: prefix = length, own range [length, length + i + 1).
// - Tree: prefix = length, base = length, mask = the path to the row; position = length + depth, not the slot.
// - Non-causal block: every row's own range covers the whole block.
// - Fork: prefix = the parent's length, own range = the fork's slots so far.
// - Sliding window of w positions: the host sets first = max(0, position - w + 1), clamps `start` likewise and leaves
//   out of the mask the ancestors at depths that the window has passed. Shaders never look at positions for visibility.
import { defineStruct, type Packed } from '../../gpu/struct.ts';

const EVERY_ROW = 0xffff_ffff;

export const ROW = defineStruct(
  'Row',
  {
    /** Where `ringEntry` is 0. */
    token: 'u32',
    /** Of the RoPE table. */
    position: 'u32',
    /** Where its key and value go. */
    slot: 'u32',
    prefix: 'u32',
    first: 'u32',
    start: 'u32',
    end: 'u32',
    base: 'u32',
    maskLow: 'u32',
    maskHigh: 'u32',
    /** 0: a row of padding, which writes no key or value and sees nothing; its attention output is zero. */
    alive: 'u32',
    /** Entry of the token ring that holds the token, plus one; 0 = the token is `token`. */
    ringEntry: 'u32',
    /**
     * First slot whose sums belong to the chunk of keys after that of `base`. A causal run meets its keys in chunks of
     * 64 positions. The nodes of a branching tree take more slots than positions, so those slots of the chunk after
     * `base` that lie below `chunkBoundary` are summed as a part of the chunk of `base`. Where the chunk's own edge is
     * right, as in every chain, any value up to that edge will do.
     */
    chunkBoundary: 'u32',
    /** The row is grounded on the rows at positions below it (rollout.ts); by default on all. */
    sources: 'u32',
    /** Of a model with recurrent layers: which of the cache's states the row's sequence has (delta-rule.ts). */
    state: 'u32',
    spare: 'u32',
  },
  { sources: EVERY_ROW, state: 0, spare: 0 },
);

export type Row = Packed<typeof ROW>;

/**
 * Whether attention has to heed the chunk boundary of any of these rows: one lies past the edge of its base's chunk.
 */
export const branches = (rows: readonly Pick<Row, 'slot' | 'base' | 'chunkBoundary'>[]): boolean =>
  rows.some(({ slot, base, chunkBoundary }) => {
    const edge = (Math.floor(base / 64) + 1) * 64;
    return slot >= edge && chunkBoundary > edge;
  });

export const ROW_WORDS = ROW.words;

/** Rows as the shaders read them, padded with dead ones up to the pass's bucket. */
export const packRows = (rows: readonly Row[], bucket: number): Uint32Array => ROW.pack(rows, bucket);
