// Generated from ROW in src/kernels/cache/rows.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct Row {
  token: u32,
  position: u32,
  slot: u32,
  prefix: u32,
  first: u32,
  start: u32,
  end: u32,
  base: u32,
  maskLow: u32,
  maskHigh: u32,
  alive: u32,
  ringEntry: u32,
  chunkBoundary: u32,
  sources: u32,
  state: u32,
  spare: u32,
}
