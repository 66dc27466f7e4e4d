// How keys and values are stored. A key or value of one head is so many units; attention's shaders know their layout.
// q8: unit j holds dimensions 4j to 4j + 3 of a head's first half in its first word and the same of the second half in
// its second, as signed bytes. After eight such units there is one with the scales: f32, one for 32 dimensions of each
// half. They lie together after the last of a head's units. So 32 values take 36 bytes.

/** In the order of the shaders' numbers. */
export const CACHE_PRECISIONS = ['f32', 'f16', 'q8'] as const;
/** The number format of cached keys and values. `q8`: signed bytes, with one f32 scale for 32 of them. */
export type CachePrecision = (typeof CACHE_PRECISIONS)[number];

/** The number that shaders know a precision by. */
export const storedAs = (precision: CachePrecision): 0 | 1 | 2 => CACHE_PRECISIONS.indexOf(precision) as 0 | 1 | 2;

/** A lane that moves or writes a row owns whole units. `words`: of 8 bytes. */
export const unitsOf = (headDim: number, precision: CachePrecision) => {
  if (precision !== 'q8') return { units: headDim / 4, words: precision === 'f32' ? 2 : 1 };
  return { units: headDim / 8 + Math.ceil(headDim / 64), words: 1 };
};
