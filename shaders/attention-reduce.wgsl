// Attention for GPUs, 2 of 2: joins the chunks of a row in index order, each scaled to the row's maximum. A lane owns
// one dimension of four (row, head) pairs.
struct Row {
  token: u32, position: u32, slot: u32, prefix: u32, first: u32, start: u32,
  end: u32, base: u32, maskLow: u32, maskHigh: u32, alive: u32, reserved: u32,
}
struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> scratch: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let d = id.x;
  let head = id.y;
  let tile = id.z;
  if (d >= uniforms.headDim) { return; }
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pairs = uniforms.rows * group;
  let span = uniforms.headDim + 2;
  let cell = (head * ((pairs + 3) / 4) + tile) * (uniforms.capacity / 64);
  let end = bound(tile);

  var top = vec4f(-3.0e38);
  for (var c = 0u; c * 64 < end; c++) {
    if (live(tile, c)) { top = max(top, scratch[(cell + c) * span + uniforms.headDim]); }
  }
  var total = vec4f();
  var mixed = vec4f();
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
    let start = (cell + c) * span;
    let sum = scratch[start + uniforms.headDim + 1];
    let factor = select(exp2(scratch[start + uniforms.headDim] - top), vec4f(), sum == vec4f());
    total = fma(sum, factor, total);
    mixed = fma(scratch[start + d], factor, mixed);
  }
  // A row that sees nothing is zero, not 0/0.
  mixed = select(mixed / total, vec4f(), total == vec4f());
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 32;
  for (var p = 4 * tile; p < min(4 * tile + 4, pairs); p++) {
    output[p / group * stride + (head * group + p % group) * uniforms.headDim + d] = mixed[p % 4];
  }
}
