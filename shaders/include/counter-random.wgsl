// The counter generator of kernels/sampling/counter-random.ts: a random number is a function of (token, position, seed)
// alone.

const ACCEPTANCE = 0xffffffffu; // in the place of a token, which it cannot be
const REPLACEMENT = 0x7f4a7c15u; // exclusive-or with the seed

// PCG3D, Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020.
fn pcg3d(key: vec3u) -> u32 {
  var v = key * 1664525 + 1013904223;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3u(16);
  v.x += v.y * v.z;
  return v.x;
}

// -log(-log(1 - u)) with u = (hash + 1/2) / 2^32, which an f32 holds finely where it matters: near 0.
fn gumbel(token: u32, position: u32, seed: u32) -> f32 {
  let u = (f32(pcg3d(vec3u(token, position, seed))) + 0.5) * 2.3283064365386963e-10;
  return -log(select(-log(1 - min(u, 0.99999994)), u * fma(u, fma(u, 0.33333334, 0.5), 1), u < 0.00390625));
}

// In [0, 1 - 2^-24]: less than 1 also after the product with q, so that q = p is always kept.
fn chance(position: u32, seed: u32) -> f32 {
  return f32(pcg3d(vec3u(ACCEPTANCE, position, seed)) >> 8) * 5.9604645e-8;
}
