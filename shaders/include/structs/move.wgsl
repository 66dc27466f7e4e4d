// Generated from MOVE in src/kernels/cache/compact.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct Move {
  source: u32,
  to: u32,
}
