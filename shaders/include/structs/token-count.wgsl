// Generated from TOKEN_COUNT in src/kernels/sampling/adjust-logits.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct TokenCount {
  token: u32,
  generated: u32,
}
