// Generated from CHOICE in src/kernels/sampling/sample.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct Choice {
  token: u32,
  logit: f32,
  logSumExp: f32,
  flags: u32,
}
