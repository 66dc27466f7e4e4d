// Generated from ENSEMBLE_VERDICT in src/kernels/ensemble/ensemble-structs.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct EnsembleVerdict {
  kept: u32,
  count: u32,
  broken: u32,
  spare: u32,
  words: array<u32>,
}
