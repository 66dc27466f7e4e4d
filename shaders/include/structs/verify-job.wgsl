// Generated from VERIFY_JOB in src/kernels/verify/verdict.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct VerifyJob {
  nodes: u32,
  draws: u32,
  base: u32,
  position: u32,
  seed: u32,
  row: u32,
  distribution: u32,
  limit: u32,
}
