// Generated from ENSEMBLE_JOB in src/kernels/ensemble/ensemble-structs.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct EnsembleJob {
  drafts: u32,
  pending: u32,
  position: u32,
  seed: u32,
  greedy: u32,
  temperature: f32,
  topK: u32,
  topP: f32,
  minP: f32,
  mu: f32,
  drafting: f32,
  shares: array<f32, 10>,
  entries: array<u32>,
}
