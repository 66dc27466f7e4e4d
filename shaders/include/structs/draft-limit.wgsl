// Generated from DRAFT_LIMIT in src/kernels/markov/draft-limit.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct DraftLimit {
  rule: u32,
  first: u32,
  count: u32,
  threshold: f32,
  divisors: array<f32, 16>,
  costs: array<f32, 17>,
}
