// Four dimensions of a cached key, f32 or f16, and a query's product with them. All kernels that score keys multiply in
// this order, so that their sums have the same bits. Needs `keys`, `[kvHead][chunk][headDim / 4][64]`.

// 1 = the cache is f16.
override half: u32 = 0;

fn key4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
  return vec4f(bitcast<vec2f>(keys[2 * i]), bitcast<vec2f>(keys[2 * i + 1]));
}

fn chain(q: vec4f, k: vec4f, sum: f32) -> f32 {
  return fma(q.w, k.w, fma(q.z, k.z, fma(q.y, k.y, fma(q.x, k.x, sum))));
}
