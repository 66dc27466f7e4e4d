// top-k and top-p on a row of `logits` at a temperature: thresholds on a u32 key with the order of the logits, found a
// byte at a time from histograms of counts or of masses. Masses are 64-bit fixed point (2^-32 of the largest token's),
// so that the order of additions does not show. Tokens that tie with the threshold stay, as in Hugging Face's top-k.
// Needs `logits` and `uniforms.vocabulary`.
#include "order.wgsl"
#include "reduce.wgsl"
#include "structs/draw.wgsl"

const ONE = 4294967040.0; // 2^32 less the last bit of an f32: a mass of 1 fits a word

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
        for (var i = 0u; i < 256; i++) {
          total = add64(total, vec2u(atomicLoad(&binsLow[i]), atomicLoad(&binsHigh[i])));
        }
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

// The key of the least logit that top-k and top-p leave; `top` is the largest logit.
fn lowestKept(lane: u32, start: u32, top: f32, draw: Draw) -> u32 {
  var lowest = 0u;
  if (draw.topK > 0 && draw.topK < uniforms.vocabulary) {
    lowest = threshold(lane, start, 0, top, draw.temperature, draw.topK, 0);
  }
  if (draw.topP < 1) {
    lowest = threshold(lane, start, lowest, top, draw.temperature, 0, max(draw.topP, 1e-30));
  }
  return lowest;
}
