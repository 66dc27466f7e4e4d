// Draws one token a workgroup from a row of logits: temperature, then top-k, top-p and min-p, then Gumbel-max, which
// needs no cumulative sum and no normalisation. Temperature 0 is the argmax. Ties go to the lowest index everywhere.
// - top-k and top-p are thresholds on a u32 key with the order of the logits, found a byte at a time from histograms
//   of counts or of masses. Masses are 64-bit fixed point (2^-32 of the largest token's), so no order of adding shows.
//   Tokens that tie with the threshold stay, as in Hugging Face's top-k.
// - Randomness is a hash of (token, position, seed): the draw does not depend on how many rows a pass has.
override threads: u32 = 256;

struct Draw {
  row: u32, temperature: f32, topK: u32, topP: f32, minP: f32, seed: u32, position: u32, reserved: u32,
}
struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
struct Uniforms { rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read_write> choices: array<Choice>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

const LOWEST = -3.4028234e38;
const ONE = 4294967040.0; // 2^32 less the last bit of an f32: a mass of 1 fits a word

var<workgroup> bestScore: array<f32, threads>;
var<workgroup> bestToken: array<u32, threads>;
var<workgroup> sums: array<f32, threads>;
var<workgroup> broken: atomic<u32>;
var<workgroup> binsLow: array<atomic<u32>, 256>;
var<workgroup> binsHigh: array<atomic<u32>, 256>;
var<workgroup> chosen: u32;

// 64-bit words, low first.
fn add64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + u32(low < a.x));
}
fn subtract64(a: vec2u, b: vec2u) -> vec2u { return vec2u(a.x - b.x, a.y - b.y - u32(a.x < b.x)); }
fn atLeast64(a: vec2u, b: vec2u) -> bool { return a.y > b.y || (a.y == b.y && a.x >= b.x); }
fn share64(a: vec2u, share: f32) -> vec2u {
  let product = share * fma(f32(a.y), 4294967296.0, f32(a.x));
  let high = floor(product / 4294967296.0);
  return max(vec2u(u32(fma(high, -4294967296.0, product)), u32(high)), vec2u(u32(high == 0), 0)); // at least 1
}

// Larger key, larger logit.
fn keyOf(logit: f32) -> u32 {
  let bits = bitcast<u32>(logit);
  return select(bits | 0x80000000, ~bits, (bits >> 31) == 1);
}

// PCG3D, Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020. The same in random.ts.
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
fn gumbel(token: u32, draw: Draw) -> f32 {
  let u = (f32(pcg3d(vec3u(token, draw.position, draw.seed))) + 0.5) * 2.3283064365386963e-10;
  return -log(select(-log(1 - min(u, 0.99999994)), u * fma(u, fma(u, 0.33333334, 0.5), 1), u < 0.00390625));
}

// Leaves the workgroup's best in entry 0.
fn settle(lane: u32) {
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) {
      let score = bestScore[lane + half];
      let token = bestToken[lane + half];
      if (score > bestScore[lane] || (score == bestScore[lane] && token < bestToken[lane])) {
        bestScore[lane] = score;
        bestToken[lane] = token;
      }
    }
    workgroupBarrier();
  }
}

// The largest key such that the keys from it up, counted (share 0) or weighed, reach the target: `count` keys, or this
// share of the mass of all keys from `lowest` up.
fn threshold(lane: u32, start: u32, lowest: u32, top: f32, temperature: f32, count: u32, share: f32) -> u32 {
  var key = 0u;
  var missing = vec2u(count, 0);
  for (var shift = 24i; shift >= 0; shift -= 8) {
    for (var i = lane; i < 256; i += threads) {
      atomicStore(&binsLow[i], 0);
      atomicStore(&binsHigh[i], 0);
    }
    workgroupBarrier();
    let above = select((~0u) << (u32(shift + 8) & 31), 0, shift == 24);
    for (var i = lane; i < uniforms.vocabulary; i += threads) {
      let logit = logits[start + i];
      let own = keyOf(logit);
      if (own < lowest || (own & above) != key) { continue; }
      let bin = (own >> u32(shift)) & 255;
      let mass = select(1, u32(ONE * exp((logit - top) / temperature)), share > 0);
      if (mass == 0) { continue; }
      let before = atomicAdd(&binsLow[bin], mass);
      if (before + mass < before) { atomicAdd(&binsHigh[bin], 1); }
    }
    workgroupBarrier();
    if (lane == 0) {
      if (share > 0 && shift == 24) {
        var total = vec2u();
        for (var i = 0u; i < 256; i++) { total = add64(total, vec2u(atomicLoad(&binsLow[i]), atomicLoad(&binsHigh[i]))); }
        missing = share64(total, share);
      }
      chosen = 0;
      for (var i = 255i; i >= 0; i--) {
        let bin = vec2u(atomicLoad(&binsLow[i]), atomicLoad(&binsHigh[i]));
        if (all(bin == vec2u())) { continue; }
        chosen = u32(i); // the lowest one that is not empty, should rounding leave the target out of reach
        if (atLeast64(bin, missing)) { break; }
        missing = subtract64(missing, bin);
      }
    }
    key |= workgroupUniformLoad(&chosen) << u32(shift);
  }
  return key;
}

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let draw = draws[group.x];
  let start = draw.row * uniforms.stride;
  let vocabulary = uniforms.vocabulary;

  var score = LOWEST;
  var token = vocabulary;
  for (var i = lane; i < vocabulary; i += threads) {
    let logit = logits[start + i];
    // By bits: a compiler may take a comparison with NaN for impossible. +infinity is no logit either.
    let bits = bitcast<u32>(logit);
    if ((bits & 0x7fffffff) > 0x7f800000 || bits == 0x7f800000) { atomicOr(&broken, 1); }
    if (logit > score) { score = logit; token = i; }
  }
  bestScore[lane] = score;
  bestToken[lane] = token;
  settle(lane);
  let top = bestScore[0];
  let greedy = bestToken[0];

  var sum = 0.0;
  for (var i = lane; i < vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  sums[lane] = sum;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { sums[lane] += sums[lane + half]; }
    workgroupBarrier();
  }

  if (draw.temperature > 0) {
    var lowest = 0u;
    if (draw.topK > 0 && draw.topK < vocabulary) {
      lowest = threshold(lane, start, 0, top, draw.temperature, draw.topK, 0);
    }
    if (draw.topP < 1) {
      lowest = threshold(lane, start, lowest, top, draw.temperature, 0, max(draw.topP, 1e-30));
    }
    score = LOWEST;
    token = vocabulary;
    for (var i = lane; i < vocabulary; i += threads) {
      let logit = logits[start + i];
      let scaled = (logit - top) / draw.temperature;
      if (keyOf(logit) < lowest || exp(scaled) < draw.minP) { continue; }
      let own = scaled + gumbel(i, draw);
      if (own > score) { score = own; token = i; }
    }
    bestScore[lane] = score;
    bestToken[lane] = token;
    settle(lane);
  }

  if (lane == 0) {
    let drawn = min(select(greedy, bestToken[0], draw.temperature > 0), vocabulary - 1);
    choices[group.x] = Choice(drawn, logits[start + drawn], top + log(sums[0]), atomicLoad(&broken));
  }
}
