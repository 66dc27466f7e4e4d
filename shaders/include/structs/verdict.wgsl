// Generated from VERDICT in src/kernels/verify/verdict.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
#include "verdict-entry.wgsl"
struct Verdict {
  length: u32,
  bonus: u32,
  broken: u32,
  limit: u32,
  entries: array<VerdictEntry>,
}
