// What one row of a pass is: a token, its position, the cache slot it is written to, and which slots it sees. The host
// writes the rows of a pass in one upload of 64 bytes each; every kernel that needs them reads the same buffer.
//
// A slot j is visible when  first <= j < prefix  (the shared past),  or  start <= j < end  (the row's own range),  or
// bit j - base of the 64-bit mask is set (the row's ancestors in the tree, itself included).
// - Causal chain of n rows behind `length` slots: prefix = length, own range [length, length + i + 1).
// - Tree: prefix = length, base = length, mask = the path to the row; position = length + depth, not the slot.
// - Non-causal block: every row's own range covers the whole block.
// - Fork: prefix = the parent's length, own range = the fork's slots so far.
// - Sliding window of w positions: the host sets first = max(0, position - w + 1), clamps `start` likewise and leaves
//   out of the mask the ancestors at depths that the window has passed. Shaders never look at positions for visibility.

export interface Row {
  /** Where `ringEntry` is 0. */
  readonly token: number;
  /** Of the RoPE table. */
  readonly position: number;
  /** Where its key and value go. */
  readonly slot: number;
  readonly prefix: number;
  readonly first: number;
  readonly start: number;
  readonly end: number;
  readonly base: number;
  readonly maskLow: number;
  readonly maskHigh: number;
  /** A row of padding has 0: it writes no key or value, sees nothing, and its attention output is zero. */
  readonly alive: 0 | 1;
  /** Entry of the token ring that holds the token, plus one; 0 = the token is `token`. */
  readonly ringEntry: number;
  /**
   * First slot whose sums belong to the chunk of keys after that of `base`. A causal run meets its keys in chunks of 64
   * positions; the nodes of a branching tree take more slots than positions, so the slots of the chunk after `base`
   * that lie below `cut` are summed as a part of the chunk of `base`. Where the edge of the chunk itself is right, as
   * in every chain, anything up to that edge will do.
   */
  readonly cut: number;
  /** Rows at positions below it are what this one is grounded on (rollout.ts); absent, all are. */
  readonly sources?: number | undefined;
}

/** Does attention have to heed the cut of any of these rows? Only where one lies behind the edge of its base's chunk. */
export const branches = (rows: readonly Pick<Row, 'slot' | 'base' | 'cut'>[]): boolean =>
  rows.some(({ slot, base, cut }) => {
    const edge = (Math.floor(base / 64) + 1) * 64;
    return slot >= edge && cut > edge;
  });

/** `struct Row` in the shaders: fourteen fields and two spare words. */
export const ROW_WORDS = 16;

const EVERY_ROW = 0xffff_ffff;

/** Rows as the shaders read them, padded with dead ones up to the pass's bucket. */
export const packRows = (rows: readonly Row[], bucket: number): Uint32Array => {
  const words = new Uint32Array(bucket * ROW_WORDS);
  rows.forEach((row, i) => {
    words.set(
      [
        row.token,
        row.position,
        row.slot,
        row.prefix,
        row.first,
        row.start,
        row.end,
        row.base,
        row.maskLow,
        row.maskHigh,
        row.alive,
        row.ringEntry,
        row.cut,
        row.sources ?? EVERY_ROW,
      ],
      i * ROW_WORDS,
    );
  });
  return words;
};
