// Four dimensions of a cached value. Needs `values`, `[kvHead][slot][unit]` with the units of cache-precision.ts, and
// `uniforms` with `headDim`.

// 0: the cache is f32, 1: f16, 2: q8.
override stored: u32 = 0;

// `slot` counts through all kv heads.
fn value4(slot: u32, quad: u32) -> vec4f {
  let quads = uniforms.headDim / 4;
  if (stored == 2) {
    let cells = quads / 2; // without the units of scales
    let cell = quad % cells;
    let half = quad / cells;
    let first = slot * (cells + (cells + 7) / 8);
    return vec4f(unpack4xI8(values[first + cell][half])) * bitcast<f32>(values[first + cells + cell / 8][half]);
  }
  let i = slot * quads + quad;
  if (stored == 1) { return vec4f(unpack2x16float(values[i].x), unpack2x16float(values[i].y)); }
  return vec4f(bitcast<vec2f>(values[2 * i]), bitcast<vec2f>(values[2 * i + 1]));
}
