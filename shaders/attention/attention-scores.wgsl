// Attention without barriers, 1 of 3: scores, times log2(e). A workgroup is one chunk of 64 keys; a lane owns eight
// keys and four (row, head) pairs of one kv head, because loads cost most on lavapipe: 12 for 32 products. (Four keys a
// lane, 8 loads for 16 products, took 1.5 times as long.) All three stages share the layout of `scratch`:
// [kvHead][pair vector]{[chunk][64 keys, maximum, sum], [64 keys]} vec4. The last 64 are the keys of a branching tree
// that are summed with the chunk before their own (`early` in rows.wgsl).
#include "../include/attention-tile.wgsl"
#include "../include/attention-keys.wgsl"
#include "../include/ring.wgsl"

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, ring: u32, scale: f32, softCap: f32,
}

@group(0) @binding(0) var<storage, read> query: array<vec4f>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

const keysPerLane = 8u;
const lanes = 64u / keysPerLane;

// Hidden where the lane's bit of all four pairs is 0.
fn masked(sum: vec4f, bits: vec4u, bit: u32) -> vec4f {
  return select(vec4f(HIDDEN), scored(sum), (bits & vec4u(1u << bit)) != vec4u());
}

@compute @workgroup_size(lanes)
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
  // The later stages skip a chunk by the same test.
  if (all((sx | sy | sz | sw) == vec2u()) && !(branched == 1 && live(tile, chunk))) { return; }

  let q = row * stride + (head * group + pair % group) * quads;
  let chunks = uniforms.capacity / 64;
  let keyChunk = placeOf(head, chunk);
  var sum: array<vec4f, keysPerLane>;
  for (var i = 0u; i < quads; i++) {
    let x = query[q.x + i];
    let y = query[q.y + i];
    let z = query[q.z + i];
    let w = query[q.w + i];
    for (var p = 0u; p < keysPerLane; p++) {
      let k = key4(keyChunk, i, lane + p * lanes);
      sum[p] = vec4f(chain(x, k, sum[p].x), chain(y, k, sum[p].y), chain(z, k, sum[p].z), chain(w, k, sum[p].w));
    }
  }
  let tiles = (uniforms.rows * group + 3) / 4;
  let cells = (head * tiles + tile) * (chunks * 66 + 64) + lane;
  let low = vec4u(sx.x, sy.x, sz.x, sw.x);
  let high = vec4u(sx.y, sy.y, sz.y, sw.y);
  for (var p = 0u; p < keysPerLane; p++) {
    let bits = select(high, low, p < keysPerLane / 2);
    scratch[cells + chunk * 66 + p * lanes] = masked(sum[p], bits, (lane + p * lanes) & 31);
  }
  if (branched == 0) { return; }
  // Keys that belong to the chunk before move to the last 64 cells. The ends of these loops depend
  // on the pass, so that they stay loops: unrolled, they made LLVM take 8 s instead of 3.
  for (var i = 0u; 4 * tile + i < min(4 * tile + 4, uniforms.rows * group); i++) {
    let bits = early(rows[row[i]], start);
    let end = select(keysPerLane, 0u, all(bits == vec2u()));
    for (var p = 0u; p < end; p++) {
      let own = cells + chunk * 66 + p * lanes;
      let moves = (select(bits.y, bits.x, p < keysPerLane / 2) & (1u << ((lane + p * lanes) & 31))) != 0;
      let score = scratch[own][i];
      scratch[cells + chunks * 66 + p * lanes][i] = select(HIDDEN, score, moves);
      scratch[own][i] = select(score, HIDDEN, moves);
    }
  }
}
