// Generated from ADJUST_JOB in src/kernels/sampling/adjust-logits.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct AdjustJob {
  rows: u32,
  first: u32,
  base: u32,
  length: u32,
  generated: u32,
  tail: u32,
  counted: u32,
  biases: u32,
  bans: u32,
  penalised: u32,
  repetition: f32,
  presence: f32,
  frequency: f32,
}
