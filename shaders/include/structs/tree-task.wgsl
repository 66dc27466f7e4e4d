// Generated from TREE_TASK in src/kernels/tree/grow-tree.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct TreeTask {
  width: u32,
  levels: u32,
  nodes: u32,
  token: u32,
  ringEntry: u32,
  base: u32,
  position: u32,
  scored: u32,
  feature: u32,
  window: u32,
}
