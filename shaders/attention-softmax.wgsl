// Attention without barriers, 2 of 3: softmax of each chunk by itself. A lane owns one chunk of 64 keys of four
// (row, head) pairs: its maximum, the powers of two below it, and their sum in key order. The chunks meet in stage 3.
struct Row {
  token: u32, position: u32, slot: u32, prefix: u32, first: u32, start: u32,
  end: u32, base: u32, maskLow: u32, maskHigh: u32, alive: u32, reserved: u32,
}
struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, capacity: u32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

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

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let chunk = id.x;
  let head = id.y;
  let tile = id.z;
  let chunks = uniforms.capacity / 64;
  if (chunk >= chunks || !live(tile, chunk)) { return; }
  let tiles = (uniforms.rows * (uniforms.heads / uniforms.keyValueHeads) + 3) / 4;
  let start = ((head * tiles + tile) * chunks + chunk) * 66;
  var top = vec4f(HIDDEN);
  for (var i = 0u; i < 64; i++) { top = max(top, scratch[start + i]); }
  var sum = vec4f();
  for (var i = 0u; i < 64; i++) {
    let score = scratch[start + i];
    let weight = select(exp2(score - top), vec4f(), score == vec4f(HIDDEN));
    scratch[start + i] = weight;
    sum += weight;
  }
  scratch[start + 64] = top;
  scratch[start + 65] = sum;
}
