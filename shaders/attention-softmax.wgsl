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

// One past the newest slot in the row's mask.
fn maskEnd(row: Row) -> u32 {
  if (row.maskHigh != 0) { return row.base + 64 - countLeadingZeros(row.maskHigh); }
  return select(0, row.base + 32 - countLeadingZeros(row.maskLow), row.maskLow != 0);
}

// May the row see anything among the 64 keys from `key`?
fn overlaps(row: Row, key: u32) -> bool {
  let past = max(row.first, key) < min(row.prefix, key + 64);
  let own = max(row.start, key) < min(row.end, key + 64);
  let masked = key < maskEnd(row) && row.base < key + 64;
  return row.alive == 1 && (past || own || masked);
}

fn tileOverlaps(tile: u32, key: u32) -> bool {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  for (var row = 4 * tile / group; row <= last; row++) {
    if (overlaps(rows[row], key)) { return true; }
  }
  return false;
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let chunk = id.x;
  let head = id.y;
  let tile = id.z;
  let chunks = uniforms.capacity / 64;
  if (chunk >= chunks || !tileOverlaps(tile, chunk * 64)) { return; }
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
