// Generated from DRAFT_NODE in src/kernels/verify/verdict.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct DraftNode {
  token: u32,
  ringEntry: u32,
  parent: u32,
  distribution: u32,
  logprob: f32,
  flags: u32,
}
