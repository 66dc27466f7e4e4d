// Generated from BEAM_NODE in src/kernels/tree/grow-tree.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct BeamNode {
  candidate: u32,
  maskLow: u32,
  maskHigh: u32,
  spare: u32,
}
