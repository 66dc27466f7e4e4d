// Generated from STATE_SPAN in src/kernels/delta-net/delta-rule.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct StateSpan {
  next: u32,
  end: u32,
  prefix: u32,
  start: u32,
  begins: u32,
}
