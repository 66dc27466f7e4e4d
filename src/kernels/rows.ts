// What one row of a pass is: a token, its position, the cache slot it is written to, and which slots it sees. The host
// writes the rows of a pass in one upload of 48 bytes each; every kernel that needs them reads the same buffer.
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
}

/** `struct Row` in the shaders: eleven fields and one reserved word. */
export const ROW_WORDS = 12;

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
      ],
      i * ROW_WORDS,
    );
  });
  return words;
};
