// Generated from SLICE_BEST in src/kernels/ensemble/ensemble-structs.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct SliceBest {
  score: f32,
  token: u32,
}
