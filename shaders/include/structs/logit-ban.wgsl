// Generated from LOGIT_BAN in src/kernels/sampling/adjust-logits.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct LogitBan {
  token: u32,
  first: u32,
  length: u32,
  until: u32,
}
