// Generated from LOGIT_BIAS in src/kernels/sampling/adjust-logits.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct LogitBias {
  token: u32,
  bias: f32,
}
