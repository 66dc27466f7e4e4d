// Four dimensions of a cached key, f32 or f16, a query's product with them, and the score that follows. All kernels
// that score keys compute in this order, so that their scores have the same bits. Needs `keys`,
// `[kvHead][chunk][headDim / 4][64]`, and `uniforms` with `scale` and `softCap`.

// 1 = the cache is f16.
override half: u32 = 0;
// 1 = scores have a soft cap.
override capped: u32 = 0;

fn key4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
  return vec4f(bitcast<vec2f>(keys[2 * i]), bitcast<vec2f>(keys[2 * i + 1]));
}

// Near 0 by its series: there tanh, which WGSL lets be (exp(x) - exp(-x)) / (exp(x) + exp(-x)), loses its digits.
fn exactTanh(x: vec4f) -> vec4f {
  let z = x * x;
  let series = fma(z, fma(z, fma(z, vec4f(62.0 / 2835.0), vec4f(-17.0 / 315.0)), vec4f(2.0 / 15.0)), vec4f(-1.0 / 3.0));
  return select(1.0 - 2.0 / (exp(2.0 * x) + 1.0), fma(x * z, series, x), abs(x) < vec4f(0.25));
}

// A score, or c·tanh(score / c); both times log2(e).
fn scored(product: vec4f) -> vec4f {
  let score = product * uniforms.scale;
  if (capped == 0) { return score; }
  return uniforms.softCap * exactTanh(score / uniforms.softCap);
}

fn chain(q: vec4f, k: vec4f, sum: f32) -> f32 {
  return fma(q.w, k.w, fma(q.z, k.z, fma(q.y, k.y, fma(q.x, k.x, sum))));
}
