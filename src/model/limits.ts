// How large a pass, a tree and a draft may be. Plain numbers, so that models without a device keep to them too.

/** Nodes of the largest tree: the bits of a row's ancestor mask. Beyond the rows of a pass a tree takes several passes. */
export const MOST_NODES = 64;
/** Rows that a cursor can be rewound by, after which no window lacks one: a step of a router, and a tree. */
export const SPARE_ROWS = 192;
/** Distributions that one dispatch can write. A sampled draft has one fewer: each row of its verification needs one. */
export const MOST_DISTRIBUTIONS = 16;
