// The RMS norm of each head of q and k (in models that have it), the rotary embedding of pairs (i, i + rotated/2) of a
// head's first `rotated` dimensions by a table from the host, and the append of key and value to the cache. A lane
// computes eight dimensions of one head of one row, and that head's norm by itself: redundant across the lanes of a
// head, but without a barrier, and the sum runs in the order of the dimensions for every lane and every number of rows.
// `normed` is 0 without a norm, 1 with one before the rotation, 2 with one after it, of which the rotation changes only
// the place of the weights: it leaves a head's sum of squares as it is.
#include "../include/structs/row.wgsl"

// 1 = not all dimensions of a head are rotated; then pairs need not lie in whole vec4s.
override partly: u32 = 0;

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, rotated: u32, epsilon: f32, normed: u32, ring: u32,
  stored: u32,
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

// Four dimensions of a head's first half and the same of its second.
struct Pair { low: vec4f, high: vec4f }

// The word of unit `unit` of a key and of a value (cache-precision.ts). A slot past the layer's ring takes the place of an
// earlier one.
fn keyWord(head: u32, slot: u32, units: u32, unit: u32) -> u32 {
  let place = slot % uniforms.ring;
  return ((head * (uniforms.ring / 64) + place / 64) * units + unit) * 64 + place % 64;
}
fn valueWord(head: u32, slot: u32, units: u32, unit: u32) -> u32 {
  return (head * uniforms.ring + slot % uniforms.ring) * units + unit;
}

fn half4(x: vec4f) -> vec2u { return vec2u(pack2x16float(x.xy), pack2x16float(x.zw)); }

fn storeKey(head: u32, slot: u32, quad: u32, x: vec4f) {
  let i = keyWord(head, slot, uniforms.headDim / 4, quad);
  if (uniforms.stored == 1) {
    keys[i] = half4(x);
  } else {
    keys[2 * i] = bitcast<vec2u>(x.xy);
    keys[2 * i + 1] = bitcast<vec2u>(x.zw);
  }
}

fn storeValue(head: u32, slot: u32, quad: u32, x: vec4f) {
  let i = valueWord(head, slot, uniforms.headDim / 4, quad);
  if (uniforms.stored == 1) {
    values[i] = half4(x);
  } else {
    values[2 * i] = bitcast<vec2u>(x.xy);
    values[2 * i + 1] = bitcast<vec2u>(x.zw);
  }
}

fn largestOf(x: vec4f) -> f32 {
  let size = max(abs(x.xy), abs(x.zw));
  return max(size.x, size.y);
}

fn bytes4(x: vec4f, scale: f32) -> u32 {
  if (scale == 0) { return 0; }
  return pack4xI8(vec4i(clamp(round(x / scale), vec4f(-127), vec4f(127))));
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

// A head that is rotated as a whole. The table holds (cos, sin) pairs, [position][headDim/2]; a vec4 is two of them.
fn turnedPair(low: vec4f, high: vec4f, quad: u32, position: u32) -> Pair {
  let angle = position * (uniforms.headDim / 4) + quad * 2;
  let a = table[angle];
  let b = table[angle + 1];
  let cosine = vec4f(a.xz, b.xz);
  let sine = vec4f(a.yw, b.yw);
  return Pair(fma(low, cosine, -(high * sine)), fma(high, cosine, low * sine));
}

// What the cache or the query gets of quads `quad` and `quad + headDim / 8` of a head.
fn pairOf(quad: u32, position: u32, source: u32, scale: f32, isKey: bool, isValue: bool) -> Pair {
  let quads = uniforms.headDim / 4;
  let lanes = quads / 2;
  var low = qkv[source + quad];
  var high = qkv[source + quad + lanes];
  if (isValue) { return Pair(low, high); }
  if (uniforms.normed == 1) {
    low *= scale * select(queryNorm[quad], keyNorm[quad], isKey);
    high *= scale * select(queryNorm[quad + lanes], keyNorm[quad + lanes], isKey);
  }
  var pair: Pair;
  if (partly == 1) {
    pair = Pair(
      turned4(low, quad, position, source, scale, isKey), turned4(high, quad + lanes, position, source, scale, isKey),
    );
  } else {
    pair = turnedPair(low, high, quad, position);
  }
  if (uniforms.normed == 2) {
    pair.low *= scale * select(queryNorm[quad], keyNorm[quad], isKey);
    pair.high *= scale * select(queryNorm[quad + lanes], keyNorm[quad + lanes], isKey);
  }
  return pair;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.headDim / 4;
  let lanes = quads / 2;
  let all = uniforms.heads + 2 * uniforms.keyValueHeads;
  let head = id.x / lanes; // q heads, then k, then v
  if (head >= all) { return; }
  let quad = id.x % lanes;
  let row = rows[id.y];
  let source = id.y * stride(all * uniforms.headDim) + head * quads;
  let isValue = head >= uniforms.heads + uniforms.keyValueHeads;
  let isKey = head >= uniforms.heads && !isValue;
  var scale = 1.0;
  if (uniforms.normed > 0 && !isValue) {
    var sum = vec4f();
    for (var i = 0u; i < quads; i++) {
      let x = qkv[source + i];
      sum = fma(x, x, sum);
    }
    let squares = (sum.x + sum.y) + (sum.z + sum.w);
    scale = 1.0 / sqrt(squares / f32(uniforms.headDim) + uniforms.epsilon);
  }
  let own = pairOf(quad, row.position, source, scale, isKey, isValue);
  if (!isKey && !isValue) {
    let destination = id.y * stride(uniforms.heads * uniforms.headDim) + head * quads + quad;
    query[destination] = own.low;
    query[destination + lanes] = own.high;
    return;
  }
  if (row.alive == 0) { return; }
  let cached = (head - uniforms.heads) % uniforms.keyValueHeads;
  if (uniforms.stored == 2) {
    // The scales of 32 dimensions of each half: each lane finds them by itself.
    var largest = vec2f();
    for (var i = quad / 8 * 8; i < min(quad / 8 * 8 + 8, lanes); i++) {
      let each = pairOf(i, row.position, source, scale, isKey, isValue);
      largest = max(largest, vec2f(largestOf(each.low), largestOf(each.high)));
    }
    let scales = largest / 127;
    let units = lanes + (lanes + 7) / 8;
    let word = vec2u(bytes4(own.low, scales.x), bytes4(own.high, scales.y));
    let unit = lanes + quad / 8;
    if (isKey) {
      keys[keyWord(cached, row.slot, units, quad)] = word;
      if (quad % 8 == 0) { keys[keyWord(cached, row.slot, units, unit)] = bitcast<vec2u>(scales); }
    } else {
      values[valueWord(cached, row.slot, units, quad)] = word;
      if (quad % 8 == 0) { values[valueWord(cached, row.slot, units, unit)] = bitcast<vec2u>(scales); }
    }
  } else if (isKey) {
    storeKey(cached, row.slot, quad, own.low);
    storeKey(cached, row.slot, quad + lanes, own.high);
  } else {
    storeValue(cached, row.slot, quad, own.low);
    storeValue(cached, row.slot, quad + lanes, own.high);
  }
}
