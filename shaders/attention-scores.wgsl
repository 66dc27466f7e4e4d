// Attention without barriers, 1 of 3: scores. A lane owns one key and four (row, head) pairs that share its kv head,
// so a key is read once for four queries; a workgroup is one chunk of 64 keys. Scores carry the factor log2(e) and go
// to `scratch` as [kvHead][tile of 4 pairs][chunk][64 keys + 2] vec4, the layout that all stages share.
override half: u32 = 0;

struct Row {
  token: u32, position: u32, slot: u32, prefix: u32, first: u32, start: u32,
  end: u32, base: u32, maskLow: u32, maskHigh: u32, alive: u32, reserved: u32,
}
struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> query: array<vec4f>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

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

fn visible(row: Row, key: u32) -> bool {
  let bit = key - row.base; // wraps below the base
  let word = select(row.maskHigh, row.maskLow, bit < 32);
  let ancestor = bit < 64 && ((word >> (bit & 31)) & 1) == 1;
  return row.alive == 1 && ((row.first <= key && key < row.prefix) || (row.start <= key && key < row.end) || ancestor);
}

fn key4(i: u32) -> vec4f {
  if (half == 1) { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
  return vec4f(bitcast<vec2f>(keys[2 * i]), bitcast<vec2f>(keys[2 * i + 1]));
}

fn chain(q: vec4f, k: vec4f, sum: f32) -> f32 {
  return fma(q.w, k.w, fma(q.z, k.z, fma(q.y, k.y, fma(q.x, k.x, sum))));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let chunk = id.x;
  let head = id.y;
  let tile = id.z;
  if (!tileOverlaps(tile, chunk * 64)) { return; }

  let group = uniforms.heads / uniforms.keyValueHeads;
  let quads = uniforms.headDim / 4;
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  let pair = min(vec4u(0, 1, 2, 3) + 4 * tile, vec4u(uniforms.rows * group - 1)); // a spare pair repeats the last
  let row = pair / group;
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
  let key = chunk * 64 + lane;
  let seen = vec4<bool>(
    visible(rows[row.x], key), visible(rows[row.y], key), visible(rows[row.z], key), visible(rows[row.w], key),
  );
  let tiles = (uniforms.rows * group + 3) / 4;
  let cell = (head * tiles + tile) * chunks + chunk;
  scratch[cell * 66 + lane] = select(vec4f(HIDDEN), sum * uniforms.scale, seen);
}
