// Generated from TREE_PLACE in src/kernels/tree/tree-rows.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct TreePlace {
  first: u32,
  count: u32,
  prefix: u32,
  start: u32,
  base: u32,
  position: u32,
  state: u32,
  window: u32,
}
