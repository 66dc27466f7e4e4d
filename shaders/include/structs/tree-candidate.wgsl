// Generated from TREE_CANDIDATE in src/kernels/tree/grow-tree.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct TreeCandidate {
  token: u32,
  parent: u32,
  row: u32,
  score: f32,
}
