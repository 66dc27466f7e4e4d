// Generated from SOFTMAX_STATISTICS in src/kernels/ensemble/ensemble-structs.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct SoftmaxStatistics {
  top: f32,
  sum: f32,
  lowest: u32,
  best: u32,
  broken: u32,
}
