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

// Of every row in the tile: no key at or beyond it is visible.
fn bound(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  var end = 0u;
  for (var i = 4 * tile / group; i <= last; i++) {
    let row = rows[i];
    if (row.alive == 1) { end = max(end, max(maskEnd(row), max(row.prefix, row.end))); }
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
    if (tileOverlaps(tile, c * 64)) { top = max(top, scratch[(cell + c) * span + uniforms.headDim]); }
  }
  var total = vec4f();
  var mixed = vec4f();
  for (var c = 0u; c * 64 < end; c++) {
    if (!tileOverlaps(tile, c * 64)) { continue; }
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
