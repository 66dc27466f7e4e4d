// Generated from ROW_SPAN in src/kernels/cache/kept-rows.ts.
// To write it again: npx vitest run src/kernels/shaders.test.ts -u
struct RowSpan {
  first: u32,
  count: u32,
  further: u32,
  more: u32,
}
