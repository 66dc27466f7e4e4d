// The RMS norm of each head of q and k (in models that have it), the rotary embedding of pairs (i, i + rotated/2) of a
// head's first `rotated` dimensions by a table from the host, and the append of key and value to the cache. A lane
// computes eight dimensions of one head of one row, and that head's norm by itself: redundant across the lanes of a
// head, but without a barrier, and the sum runs in the order of the dimensions for every lane and every number of rows.
#include "../include/structs/row.wgsl"

// 1 = not all dimensions of a head are rotated; then pairs need not lie in whole vec4s.
override partly: u32 = 0;

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, rotated: u32, epsilon: f32, normed: u32, capacity: u32,
  half: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> table: array<vec4f>;
@group(0) @binding(3) var<storage, read> queryNorm: array<vec4f>;
@group(0) @binding(4) var<storage, read> keyNorm: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> query: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> keys: array<vec2u>;
@group(0) @binding(7) var<storage, read_write> values: array<vec2u>;
@group(0) @binding(8) var<uniform> uniforms: Uniforms;

// Vec4s between two rows of an activation of this many elements.
fn stride(elements: u32) -> u32 { return ((elements + 31) / 32) * 8; }

// [kvHead][chunk of 64 keys][headDim/4][64], in quads.
fn storeKey(head: u32, slot: u32, quad: u32, x: vec4f) {
  let chunk = head * (uniforms.capacity / 64) + slot / 64;
  let i = (chunk * (uniforms.headDim / 4) + quad) * 64 + slot % 64;
  if (uniforms.half == 1) {
    keys[i] = vec2u(pack2x16float(x.xy), pack2x16float(x.zw));
  } else {
    keys[2 * i] = bitcast<vec2u>(x.xy);
    keys[2 * i + 1] = bitcast<vec2u>(x.zw);
  }
}

// [kvHead][slot][headDim/4], in quads.
fn storeValue(head: u32, slot: u32, quad: u32, x: vec4f) {
  let i = (head * uniforms.capacity + slot) * (uniforms.headDim / 4) + quad;
  if (uniforms.half == 1) {
    values[i] = vec2u(pack2x16float(x.xy), pack2x16float(x.zw));
  } else {
    values[2 * i] = bitcast<vec2u>(x.xy);
    values[2 * i + 1] = bitcast<vec2u>(x.zw);
  }
}

// What one dimension of a head becomes. `own` is the dimension, normed; `scale` is that of the head's norm.
fn turned(own: f32, d: u32, position: u32, source: u32, scale: f32, isKey: bool) -> f32 {
  let pairs = uniforms.rotated / 2;
  if (d >= uniforms.rotated) { return own; }
  let first = d < pairs;
  let other = select(d - pairs, d + pairs, first);
  var partner = qkv[source + other / 4][other % 4];
  if (uniforms.normed == 1) {
    partner *= scale * select(queryNorm[other / 4][other % 4], keyNorm[other / 4][other % 4], isKey);
  }
  let angle = position * uniforms.rotated + 2 * select(other, d, first); // (cos, sin) pairs, [position][pairs]
  let cosine = table[angle / 4][angle % 4];
  let sine = table[(angle + 1) / 4][(angle + 1) % 4];
  return fma(own, cosine, select(partner, -partner, first) * sine);
}

fn turned4(own: vec4f, quad: u32, position: u32, source: u32, scale: f32, isKey: bool) -> vec4f {
  let d = 4 * quad;
  return vec4f(
    turned(own.x, d, position, source, scale, isKey), turned(own.y, d + 1, position, source, scale, isKey),
    turned(own.z, d + 2, position, source, scale, isKey), turned(own.w, d + 3, position, source, scale, isKey),
  );
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.headDim / 4;
  let lanes = quads / 2; // a head's
  let all = uniforms.heads + 2 * uniforms.keyValueHeads;
  let head = id.x / lanes; // q heads, then k, then v
  if (head >= all) { return; }
  let quad = id.x % lanes;
  let row = rows[id.y];
  let source = id.y * stride(all * uniforms.headDim) + head * quads;
  var low = qkv[source + quad];
  var high = qkv[source + quad + lanes];

  if (head >= uniforms.heads + uniforms.keyValueHeads) {
    if (row.alive == 1) {
      let valueHead = head - uniforms.heads - uniforms.keyValueHeads;
      storeValue(valueHead, row.slot, quad, low);
      storeValue(valueHead, row.slot, quad + lanes, high);
    }
    return;
  }

  let isKey = head >= uniforms.heads;
  var scale = 1.0;
  if (uniforms.normed == 1) {
    var sum = vec4f();
    for (var i = 0u; i < quads; i++) {
      let x = qkv[source + i];
      sum = fma(x, x, sum);
    }
    let squares = (sum.x + sum.y) + (sum.z + sum.w);
    scale = 1.0 / sqrt(squares / f32(uniforms.headDim) + uniforms.epsilon);
    low *= scale * select(queryNorm[quad], keyNorm[quad], isKey);
    high *= scale * select(queryNorm[quad + lanes], keyNorm[quad + lanes], isKey);
  }

  var turnedLow: vec4f;
  var turnedHigh: vec4f;
  if (partly == 1) {
    turnedLow = turned4(low, quad, row.position, source, scale, isKey);
    turnedHigh = turned4(high, quad + lanes, row.position, source, scale, isKey);
  } else {
    // The table holds (cos, sin) pairs, [position][headDim/2]; a vec4 is two of them.
    let angle = row.position * quads + quad * 2;
    let a = table[angle];
    let b = table[angle + 1];
    let cosine = vec4f(a.xz, b.xz);
    let sine = vec4f(a.yw, b.yw);
    turnedLow = fma(low, cosine, -(high * sine));
    turnedHigh = fma(high, cosine, low * sine);
  }

  if (!isKey) {
    let destination = id.y * stride(uniforms.heads * uniforms.headDim) + head * quads + quad;
    query[destination] = turnedLow;
    query[destination + lanes] = turnedHigh;
  } else if (row.alive == 1) {
    storeKey(head - uniforms.heads, row.slot, quad, turnedLow);
    storeKey(head - uniforms.heads, row.slot, quad + lanes, turnedHigh);
  }
}
