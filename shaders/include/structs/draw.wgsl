// Generated from DRAW in src/kernels/sampling/sample.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct Draw {
  row: u32,
  temperature: f32,
  topK: u32,
  topP: f32,
  minP: f32,
  seed: u32,
  position: u32,
  entry: u32,
  distribution: u32,
}
