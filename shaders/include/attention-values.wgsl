// Four dimensions of a cached value, f32 or f16. Needs `values`, `[kvHead][slot][headDim / 4]`.

// 1 = the cache is f16.
override half: u32 = 0;

fn value4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(values[i].x), unpack2x16float(values[i].y)); }
  return vec4f(bitcast<vec2f>(values[2 * i]), bitcast<vec2f>(values[2 * i + 1]));
}
