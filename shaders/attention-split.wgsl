// Attention for GPUs (flash-decoding), 1 of 2: a workgroup is one chunk of 64 keys, at an absolute multiple of 64, of
// one kv head and four (row, head) pairs that share it. Lanes own a key for scores and softmax, a dimension for values.
// `scratch` is [kvHead][tile of 4 pairs][chunk][headDim sums, maximum, sum of weights] vec4; scores carry log2(e).
override half: u32 = 0;

struct Row {
  token: u32, position: u32, slot: u32, prefix: u32, first: u32, start: u32,
  end: u32, base: u32, maskLow: u32, maskHigh: u32, alive: u32, reserved: u32,
}
struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> query: array<vec4f>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

const HIDDEN = -3.0e38;

var<workgroup> weights: array<vec4f, 64>;
var<workgroup> folded: array<vec4f, 64>;

// The n lowest of 64 bits.
fn below(n: i32) -> vec2u {
  return vec2u(extractBits(0xffffffffu, 0, u32(clamp(n, 0, 32))), extractBits(0xffffffffu, 0, u32(clamp(n - 32, 0, 32))));
}

fn shift64(bits: vec2u, by: i32) -> vec2u {
  let n = u32(abs(by));
  let s = n & 31;
  if (n > 63) { return vec2u(); }
  if (by >= 0) {
    let b = select(bits, vec2u(0, bits.x), n > 31);
    return vec2u(b.x << s, (b.y << s) | ((b.x >> 1) >> (31 - s)));
  }
  let b = select(bits, vec2u(bits.y, 0), n > 31);
  return vec2u((b.x >> s) | ((b.y << 1) << (31 - s)), b.y >> s);
}

// Which of the 64 keys from `key` a row sees (the rule of rows.ts), as bits.
fn seen(row: Row, key: i32) -> vec2u {
  let past = below(i32(row.prefix) - key) & ~below(i32(row.first) - key);
  let own = below(i32(row.end) - key) & ~below(i32(row.start) - key);
  let ancestors = shift64(vec2u(row.maskLow, row.maskHigh), i32(row.base) - key);
  return select(vec2u(), past | own | ancestors, row.alive == 1);
}

fn key4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
  return vec4f(bitcast<vec2f>(keys[2 * i]), bitcast<vec2f>(keys[2 * i + 1]));
}

fn chain(q: vec4f, k: vec4f, sum: f32) -> f32 {
  return fma(q.w, k.w, fma(q.z, k.z, fma(q.y, k.y, fma(q.x, k.x, sum))));
}

fn value(i: u32) -> f32 {
  if (half == 0) { return bitcast<f32>(values[i]); }
  let pair = unpack2x16float(values[i / 2]);
  return select(pair.x, pair.y, (i & 1) == 1);
}

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
  let start = i32(chunk * 64);
  let sx = seen(rows[row.x], start);
  let sy = seen(rows[row.y], start);
  let sz = seen(rows[row.z], start);
  let sw = seen(rows[row.w], start);
  if (all((sx | sy | sz | sw) == vec2u())) { return; } // the second stage skips this chunk by the same test

  let q = row * stride + (head * group + pair % group) * quads;
  let chunks = uniforms.capacity / 64;
  let source = (head * chunks + chunk) * quads * 64 + lane;
  var sum = vec4f();
  for (var i = 0u; i < quads; i++) {
    let k = key4(source + i * 64);
    sum.x = chain(query[q.x + i], k, sum.x);
    sum.y = chain(query[q.y + i], k, sum.y);
    sum.z = chain(query[q.z + i], k, sum.z);
    sum.w = chain(query[q.w + i], k, sum.w);
  }
  let bits = select(vec4u(sx.y, sy.y, sz.y, sw.y), vec4u(sx.x, sy.x, sz.x, sw.x), lane < 32);
  let visible = (bits & vec4u(1u << (lane & 31))) != vec4u();
  let score = select(vec4f(HIDDEN), sum * uniforms.scale, visible);

  folded[lane] = score;
  workgroupBarrier();
  for (var i = 32u; i > 0; i /= 2) {
    if (lane < i) { folded[lane] = max(folded[lane], folded[lane + i]); }
    workgroupBarrier();
  }
  let top = folded[0];
  workgroupBarrier();
  let weight = select(vec4f(), exp2(score - top), visible);
  weights[lane] = weight;
  folded[lane] = weight;
  workgroupBarrier();
  for (var i = 32u; i > 0; i /= 2) {
    if (lane < i) { folded[lane] += folded[lane + i]; }
    workgroupBarrier();
  }

  let tiles = (uniforms.rows * group + 3) / 4;
  let cell = ((head * tiles + tile) * chunks + chunk) * (uniforms.headDim + 2);
  for (var d = lane; d < uniforms.headDim; d += 64) {
    let first = (head * uniforms.capacity + chunk * 64) * uniforms.headDim + d;
    var mixed = vec4f();
    for (var i = 0u; i < 64; i++) { mixed = fma(vec4f(value(first + i * uniforms.headDim)), weights[i], mixed); }
    scratch[cell + d] = mixed;
  }
  if (lane == 0) {
    scratch[cell + uniforms.headDim] = top;
    scratch[cell + uniforms.headDim + 1] = folded[0];
  }
}
