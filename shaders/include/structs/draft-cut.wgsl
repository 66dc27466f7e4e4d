// Generated from DRAFT_CUT in src/kernels/markov/draft-cut.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct DraftCut {
  rule: u32,
  first: u32,
  count: u32,
  threshold: f32,
  divisors: array<f32, 16>,
  costs: array<f32, 17>,
}
