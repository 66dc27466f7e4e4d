// A list of moves between slots, made in order (kernels/cache/compact.ts).
#include "structs/move.wgsl"

const END = 0xffffffffu; // ends a list that is shorter than its buffer
