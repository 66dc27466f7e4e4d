// Generated from CHAIN_END in src/kernels/ensemble/ensemble-structs.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
#include "slice-best.wgsl"
struct ChainEnd {
  kept: u32,
  spare: u32,
  slices: array<SliceBest>,
}
