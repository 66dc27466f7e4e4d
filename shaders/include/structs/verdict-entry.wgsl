// Generated from VERDICT_ENTRY in src/kernels/verify/verdict.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct VerdictEntry {
  token: u32,
  parent: u32,
  drafted: f32,
  scored: f32,
  path: u32,
  choice: u32,
  logit: f32,
  logSumExp: f32,
}
