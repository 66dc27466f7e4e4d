// Attention without barriers, 3 of 3: the weighted sum of values. A lane owns four dimensions of a kv head for four
// (row, head) pairs; the weights have the same address in every lane, which software adapters load once. Sums run in
// key order within a chunk, then chunk by chunk, each scaled to the row's maximum.
override half: u32 = 0;

struct Row {
  token: u32, position: u32, slot: u32, prefix: u32, first: u32, start: u32,
  end: u32, base: u32, maskLow: u32, maskHigh: u32, alive: u32, reserved: u32,
}
struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32 }

@group(0) @binding(0) var<storage, read> values: array<vec2u>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> scratch: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

const HIDDEN = -3.0e38;

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

// Does any row of the tile see anything in the chunk?
fn live(tile: u32, chunk: u32) -> bool {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  for (var row = 4 * tile / group; row <= last; row++) {
    if (any(seen(rows[row], i32(chunk * 64)) != vec2u())) { return true; }
  }
  return false;
}

fn value4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(values[i].x), unpack2x16float(values[i].y)); }
  return vec4f(bitcast<vec2f>(values[2 * i]), bitcast<vec2f>(values[2 * i + 1]));
}

// Of every row in the tile: no key at or beyond it is visible.
fn bound(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  var end = 0u;
  for (var i = 4 * tile / group; i <= last; i++) {
    let row = rows[i];
    let ancestors = 64 - select(countLeadingZeros(row.maskHigh), 32 + countLeadingZeros(row.maskLow), row.maskHigh == 0);
    if (row.alive == 1) { end = max(end, max(row.base + ancestors, max(row.prefix, row.end))); }
  }
  return min(end, uniforms.capacity);
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.headDim / 4;
  let quad = id.x;
  let head = id.y;
  let tile = id.z;
  if (quad >= quads) { return; }
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pairs = uniforms.rows * group;
  let chunks = uniforms.capacity / 64;
  let cell = (head * ((pairs + 3) / 4) + tile) * chunks;
  let end = bound(tile);

  var top = vec4f(HIDDEN);
  for (var c = 0u; c * 64 < end; c++) {
    if (live(tile, c)) { top = max(top, scratch[(cell + c) * 66 + 64]); }
  }
  var total = vec4f();
  var x = vec4f();
  var y = vec4f();
  var z = vec4f();
  var w = vec4f();
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
    let start = (cell + c) * 66;
    let source = (head * uniforms.capacity + c * 64) * quads + quad;
    var cx = vec4f();
    var cy = vec4f();
    var cz = vec4f();
    var cw = vec4f();
    for (var i = 0u; i < min(64, end - c * 64); i++) {
      let v = value4(source + i * quads);
      let weight = scratch[start + i];
      cx = fma(v, weight.xxxx, cx);
      cy = fma(v, weight.yyyy, cy);
      cz = fma(v, weight.zzzz, cz);
      cw = fma(v, weight.wwww, cw);
    }
    let sum = scratch[start + 65];
    let factor = select(exp2(scratch[start + 64] - top), vec4f(), sum == vec4f());
    total = fma(sum, factor, total);
    x = fma(cx, factor.xxxx, x);
    y = fma(cy, factor.yyyy, y);
    z = fma(cz, factor.zzzz, z);
    w = fma(cw, factor.wwww, w);
  }
  // A row that sees nothing is zero, not 0/0.
  let inverse = select(1 / total, vec4f(), total == vec4f());
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  for (var p = 4 * tile; p < min(4 * tile + 4, pairs); p++) {
    let i = p / group * stride + (head * group + p % group) * quads + quad;
    switch (p % 4) {
      case 0: { output[i] = x * inverse.x; }
      case 1: { output[i] = y * inverse.y; }
      case 2: { output[i] = z * inverse.z; }
      default: { output[i] = w * inverse.w; }
    }
  }
}
