// Four dimensions of a cached key, a query's product with them, and the score that follows. All kernels that score keys
// compute in this order, so that their scores have the same bits. Needs `keys`, `[kvHead][chunk][unit][64]` with the
// units of cache-precision.ts, and `uniforms` with `headDim`, `scale` and `softCap`.

// 0: the cache is f32, 1: f16, 2: q8.
override stored: u32 = 0;
// 1 = scores have a soft cap.
override capped: u32 = 0;

// Of key `key` of a chunk; `keyChunk` counts chunks through all kv heads.
fn key4(keyChunk: u32, quad: u32, key: u32) -> vec4f {
  let quads = uniforms.headDim / 4;
  if (stored == 2) {
    let cells = quads / 2; // without the units of scales
    let cell = quad % cells;
    let half = quad / cells;
    let first = keyChunk * (cells + (cells + 7) / 8) * 64 + key;
    let scale = bitcast<f32>(keys[first + (cells + cell / 8) * 64][half]);
    return vec4f(unpack4xI8(keys[first + cell * 64][half])) * scale;
  }
  let i = (keyChunk * quads + quad) * 64 + key;
  if (stored == 1) { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
  return vec4f(bitcast<vec2f>(keys[2 * i]), bitcast<vec2f>(keys[2 * i + 1]));
}

// Two dimensions of the same, where the cache is f32 or f16.
fn key2(keyChunk: u32, two: u32, key: u32) -> vec2f {
  let i = (keyChunk * (uniforms.headDim / 4) + two / 2) * 64 + key;
  if (stored == 1) { return unpack2x16float(keys[i][two % 2]); }
  return bitcast<vec2f>(keys[2 * i + two % 2]);
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
