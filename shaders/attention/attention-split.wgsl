// Flash-decoding, 1 of 2: a workgroup is one chunk of 64 keys, at an absolute multiple of 64, of one kv head and one
// pair vector: four (row, head) pairs that share the head. A lane owns a key for scores and softmax, then a dimension
// for values. `scratch` is [kvHead][pair vector][chunk][headDim sums, maximum, sum of weights] vec4; scores carry the
// factor log2(e).
#include "../include/rows.wgsl"
#include "../include/attention-keys.wgsl"
#include "../include/ring.wgsl"

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, ring: u32, scale: f32, softCap: f32,
}

@group(0) @binding(0) var<storage, read> query: array<vec4f>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

var<workgroup> weights: array<vec4f, 128>;
var<workgroup> folded: array<vec4f, 64>;

// As attention-values.wgsl, one dimension: a lane owns one.
fn value(slot: u32, d: u32) -> f32 {
  if (stored == 2) {
    let cells = uniforms.headDim / 8;
    let cell = d / 4 % cells;
    let half = d / 4 / cells;
    let first = slot * (cells + (cells + 7) / 8);
    let integer = extractBits(bitcast<i32>(values[2 * (first + cell) + half]), d % 4 * 8, 8);
    return f32(integer) * bitcast<f32>(values[2 * (first + cells + cell / 8) + half]);
  }
  let i = slot * uniforms.headDim + d;
  if (stored == 0) { return bitcast<f32>(values[i]); }
  let pair = unpack2x16float(values[i / 2]);
  return select(pair.x, pair.y, (i & 1) == 1);
}

// Scaled scores of the lane's key of a chunk, hidden where a pair's bit is 0.
fn scores(q: vec4u, keyChunk: u32, lane: u32, low: vec4u, high: vec4u) -> vec4f {
  var sum = vec4f();
  for (var i = 0u; i < uniforms.headDim / 4; i++) {
    let k = key4(keyChunk, i, lane);
    sum.x = chain(query[q.x + i], k, sum.x);
    sum.y = chain(query[q.y + i], k, sum.y);
    sum.z = chain(query[q.z + i], k, sum.z);
    sum.w = chain(query[q.w + i], k, sum.w);
  }
  let visible = (select(high, low, lane < 32) & vec4u(1u << (lane & 31))) != vec4u();
  return select(vec4f(HIDDEN), scored(sum), visible);
}

fn weigh(score: vec4f, top: vec4f) -> vec4f { return select(exp2(score - top), vec4f(), score == vec4f(HIDDEN)); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let chunk = id.x;
  let head = id.y;
  let tile = id.z;
  let group = uniforms.heads / uniforms.keyValueHeads;
  let quads = uniforms.headDim / 4;
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  let pair = min(vec4u(0, 1, 2, 3) + 4 * tile, vec4u(uniforms.rows * group - 1)); // a spare pair repeats the last
  let row = pair / group;
  // In a branching tree keys may be summed with the chunk before their own: this chunk's `early` ones, and `more`,
  // which come here from the chunk after it.
  let start = i32(chunk * 64);
  var own: array<vec2u, 4>;
  var more: array<vec2u, 4>;
  var any64 = vec2u();
  var anyMore = vec2u();
  for (var p = 0u; p < 4; p++) {
    let each = rows[row[p]];
    let bits = seen(each, start);
    own[p] = bits & ~early(each, start);
    more[p] = early(each, start + 64);
    any64 |= bits | more[p];
    anyMore |= more[p];
  }
  if (all(any64 == vec2u())) { return; } // the second stage skips this chunk by the same test
  let longer = any(anyMore != vec2u());

  let q = row * stride + (head * group + pair % group) * quads;
  let chunks = uniforms.capacity / 64;
  let low = vec4u(own[0].x, own[1].x, own[2].x, own[3].x);
  let high = vec4u(own[0].y, own[1].y, own[2].y, own[3].y);
  let score = scores(q, placeOf(head, chunk), lane, low, high);
  var further = vec4f(HIDDEN);
  if (longer) {
    let lowMore = vec4u(more[0].x, more[1].x, more[2].x, more[3].x);
    let highMore = vec4u(more[0].y, more[1].y, more[2].y, more[3].y);
    further = scores(q, placeOf(head, chunk + 1), lane, lowMore, highMore);
  }

  folded[lane] = max(score, further);
  workgroupBarrier();
  for (var i = 32u; i > 0; i /= 2) {
    if (lane < i) { folded[lane] = max(folded[lane], folded[lane + i]); }
    workgroupBarrier();
  }
  let top = folded[0];
  weights[lane] = weigh(score, top);
  weights[lane + 64] = weigh(further, top);
  workgroupBarrier();

  // Sums in key order, so that it does not show which lanes the keys came from.
  let tiles = (uniforms.rows * group + 3) / 4;
  let cell = ((head * tiles + tile) * chunks + chunk) * (uniforms.headDim + 2);
  let count = select(64u, 128u, longer);
  let first = placeOf(head, chunk) * 64;
  let next = placeOf(head, chunk + 1) * 64;
  for (var d = lane; d < uniforms.headDim; d += 64) {
    var mixed = vec4f();
    for (var i = 0u; i < 64; i++) { mixed = fma(vec4f(value(first + i, d)), weights[i], mixed); }
    for (var i = 64u; i < count; i++) { mixed = fma(vec4f(value(next + i - 64, d)), weights[i], mixed); }
    scratch[cell + d] = mixed;
  }
  if (lane == 0) {
    var sum = vec4f();
    for (var i = 0u; i < count; i++) { sum += weights[i]; }
    scratch[cell + uniforms.headDim] = top;
    scratch[cell + uniforms.headDim + 1] = sum;
  }
}
