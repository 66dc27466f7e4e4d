// Attention without barriers, 1 of 3, for subgroups of eight lanes or more: the scores of attention-scores.wgsl, bit
// for bit and in the same layout. A lane owns eight keys for up to three pair vectors, which share each load of a key.
// Of four queries' two dimensions each lane loads one word and hands it to the others: on lavapipe a load costs more
// than the products it feeds.
enable subgroups;

#include "../include/attention-tile.wgsl"
#include "../include/attention-keys.wgsl"
#include "../include/ring.wgsl"

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, ring: u32, scale: f32, softCap: f32,
}

@group(0) @binding(0) var<storage, read> query: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

const keysPerLane = 8u;
const MOST_VECTORS = 3u; // of a tile
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
  let start = i32(chunk * 64);
  if (!live(tile, chunk)) { return; } // the later stages skip a chunk by the same test

  let group = uniforms.heads / uniforms.keyValueHeads;
  let pairs = uniforms.rows * group;
  let quads = uniforms.headDim / 4;
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 32;
  // The keys that a pair's row sees, of one or two pairs in each lane, which hands them on: worked out in every lane for
  // every pair, they made LLVM take 6 s instead of 2.
  var sight: array<vec2u, 2>;
  for (var n = 0u; 2 * n < pairVectors; n++) {
    sight[n] = seen(rows[min(4 * pairVectors * tile + 8 * n + lane, pairs - 1) / group], start);
  }
  var q: array<u32, MOST_VECTORS>;
  // The keys that its row sees, for each pair: short loops are unrolled, and only then are arrays kept in registers.
  var low: array<vec4u, MOST_VECTORS>;
  var high: array<vec4u, MOST_VECTORS>;
  for (var t = 0u; t < pairVectors; t++) {
    let pair = min(vec4u(0, 1, 2, 3) + 4 * (pairVectors * tile + t), vec4u(pairs - 1)); // a spare pair repeats the last
    let row = pair / group;
    let word = lane / 2; // of the vector's four pairs, the one that the lane loads words for
    q[t] = row[word] * stride + (head * group + pair[word] % group) * uniforms.headDim + lane % 2;
    for (var p = 0u; p < 4; p++) {
      low[t][p] = subgroupShuffle(sight[t / 2].x, 4 * (t % 2) + p);
      high[t][p] = subgroupShuffle(sight[t / 2].y, 4 * (t % 2) + p);
    }
  }
  let chunks = uniforms.capacity / 64;
  let keyChunk = placeOf(head, chunk);
  var sum: array<array<array<f32, keysPerLane>, 4>, MOST_VECTORS>;
  // All loads of a step come before its products: a load is a branch for each lane, around which sums are spilled. A
  // step is two dimensions, of q8 four, which are one word. (At f32 steps of four took a third longer at M = 1.)
  let twos = select(1u, 2u, stored == 2);
  for (var i = 0u; i < uniforms.headDim / 2; i += twos) {
    var words: array<array<f32, MOST_VECTORS>, 2>;
    var k: array<vec4f, keysPerLane>;
    for (var h = 0u; h < twos; h++) {
      for (var t = 0u; t < pairVectors; t++) { words[h][t] = query[q[t] + 2 * (i + h)]; }
    }
    for (var j = 0u; j < keysPerLane; j++) {
      let key = lane + j * lanes;
      if (stored == 2) { k[j] = key4(keyChunk, i / 2, key); } else { k[j] = vec4f(key2(keyChunk, i, key), vec2f()); }
    }
    // All keys of one pair, then of the next: its words stay in registers.
    for (var h = 0u; h < twos; h++) {
      for (var t = 0u; t < pairVectors; t++) {
        for (var p = 0u; p < 4; p++) {
          let x = subgroupShuffle(words[h][t], 2 * p);
          let y = subgroupShuffle(words[h][t], 2 * p + 1);
          for (var j = 0u; j < keysPerLane; j++) {
            sum[t][p][j] = fma(y, k[j][2 * h + 1], fma(x, k[j][2 * h], sum[t][p][j]));
          }
        }
      }
    }
  }

  let stored = (pairs + 3) / 4;
  for (var t = 0u; t < pairVectors; t++) {
    let pairVector = pairVectors * tile + t;
    if (pairVector < stored) {
      let cells = (head * stored + pairVector) * (chunks * 66 + 64) + lane;
      for (var j = 0u; j < keysPerLane; j++) {
        let bits = select(high[t], low[t], j < keysPerLane / 2);
        let own = vec4f(sum[t][0][j], sum[t][1][j], sum[t][2][j], sum[t][3][j]);
        scratch[cells + chunk * 66 + j * lanes] = masked(own, bits, (lane + j * lanes) & 31);
      }
    }
  }
}
