// Attention without barriers, 1 of 3, for subgroups of eight lanes or more: the scores of attention-scores.wgsl, bit
// for bit and in the same layout. A lane owns eight keys for up to three pair vectors, which share each load of a key.
// Of eight words of a query each lane loads one and hands it to the others: on lavapipe a load costs more than the
// products it feeds.
enable subgroups;

#include "../include/attention-tile.wgsl"
#include "../include/attention-keys.wgsl"

struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, scale: f32, softCap: f32 }

@group(0) @binding(0) var<storage, read> query: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

const keysPerLane = 8u;
const MOST_VECTORS = 3u; // of a tile
const lanes = 64u / keysPerLane;

fn four(word: f32, first: u32) -> vec4f {
  return vec4f(
    subgroupShuffle(word, first), subgroupShuffle(word, first + 1),
    subgroupShuffle(word, first + 2), subgroupShuffle(word, first + 3),
  );
}

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
  var q: array<vec4u, MOST_VECTORS>;
  // The keys that its row sees, for each pair: short loops are unrolled, and only then are arrays kept in registers.
  var low: array<vec4u, MOST_VECTORS>;
  var high: array<vec4u, MOST_VECTORS>;
  for (var t = 0u; t < pairVectors; t++) {
    let pair = min(vec4u(0, 1, 2, 3) + 4 * (pairVectors * tile + t), vec4u(pairs - 1)); // a spare pair repeats the last
    let row = pair / group;
    q[t] = row * stride + (head * group + pair % group) * uniforms.headDim + lane;
    for (var p = 0u; p < 4; p++) {
      let bits = seen(rows[row[p]], start);
      low[t][p] = bits.x;
      high[t][p] = bits.y;
    }
  }
  let chunks = uniforms.capacity / 64;
  let keyChunk = head * chunks + chunk;
  var sum: array<array<vec4f, keysPerLane>, MOST_VECTORS>;
  var words: array<vec4f, MOST_VECTORS>;
  for (var i = 0u; i < quads; i++) {
    if (i % 2 == 0) { // eight words serve two steps; a head has a multiple of eight dimensions
      for (var t = 0u; t < pairVectors; t++) {
        for (var p = 0u; p < 4; p++) { words[t][p] = query[q[t][p] + i * 4]; }
      }
    }
    var k: array<vec4f, keysPerLane>;
    for (var j = 0u; j < keysPerLane; j++) { k[j] = key4(keyChunk, i, lane + j * lanes); }
    // All keys of one pair, then of the next: its four words stay in registers.
    for (var t = 0u; t < pairVectors; t++) {
      for (var p = 0u; p < 4; p++) {
        let x = four(words[t][p], 4 * (i % 2));
        for (var j = 0u; j < keysPerLane; j++) { sum[t][j][p] = chain(x, k[j], sum[t][j][p]); }
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
        scratch[cells + chunk * 66 + j * lanes] = masked(sum[t][j], bits, (lane + j * lanes) & 31);
      }
    }
  }
}
