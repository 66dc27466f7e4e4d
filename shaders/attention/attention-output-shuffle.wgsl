// Attention without barriers, 3 of 3, for subgroups of eight lanes or more: the output of attention-output.wgsl, bit
// for bit. A lane owns four dimensions for up to three pair vectors, which share each load of a value. Of two keys'
// weights for four pairs each lane loads one and hands it to the others. All loads of a step come before its products:
// a load is a branch for each lane, around which sums are spilled.
enable subgroups;

#include "../include/attention-tile.wgsl"
#include "../include/attention-values.wgsl"
#include "../include/ring.wgsl"

struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, ring: u32 }

@group(0) @binding(0) var<storage, read> values: array<vec2u>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> scratch: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

const MOST_VECTORS = 3u; // of a tile
const lanes = 8u;
const keysPerStep = 4u;

// Four dimensions of four pairs, of each pairVector.
alias Sums = array<array<vec4f, 4>, MOST_VECTORS>;

fn four(cell: u32) -> vec4f {
  return vec4f(scratch[4 * cell], scratch[4 * cell + 1], scratch[4 * cell + 2], scratch[4 * cell + 3]);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let quads = uniforms.headDim / 4;
  let spare = id.x * lanes + lane >= quads;
  let quad = min(id.x * lanes + lane, quads - 1); // a spare lane repeats the last: all are needed to hand on weights
  let head = id.y;
  let tile = id.z;
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pairs = uniforms.rows * group;
  let stored = (pairs + 3) / 4;
  let chunks = uniforms.capacity / 64;
  let end = bound(tile);

  var cells: array<u32, MOST_VECTORS>;
  var top: array<vec4f, MOST_VECTORS>;
  for (var t = 0u; t < pairVectors; t++) {
    cells[t] = (head * stored + min(pairVectors * tile + t, stored - 1)) * (chunks * 66 + 64);
    top[t] = vec4f(HIDDEN);
  }
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
    for (var t = 0u; t < pairVectors; t++) { top[t] = max(top[t], four(cells[t] + c * 66 + 64)); }
  }
  var total: array<vec4f, MOST_VECTORS>;
  var sums: Sums;
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
    let source = placeOf(head, c) * 64;
    var mixed = Sums(); // written out: lavapipe does not clear it in each iteration otherwise
    for (var i = 0u; i < min(64, end - c * 64); i += keysPerStep) { // past the end weights are zero
      var weights: array<array<f32, MOST_VECTORS>, keysPerStep / 2>;
      var v: array<vec4f, keysPerStep>;
      for (var h = 0u; h < keysPerStep / 2; h++) {
        for (var t = 0u; t < pairVectors; t++) { weights[h][t] = scratch[4 * (cells[t] + c * 66 + i + 2 * h) + lane]; }
      }
      for (var k = 0u; k < keysPerStep; k++) { v[k] = value4(source + i + k, quad); }
      for (var t = 0u; t < pairVectors; t++) {
        for (var p = 0u; p < 4; p++) {
          for (var k = 0u; k < keysPerStep; k++) {
            mixed[t][p] = fma(v[k], vec4f(subgroupShuffle(weights[k / 2][t], 4 * (k % 2) + p)), mixed[t][p]);
          }
        }
      }
    }
    for (var t = 0u; t < pairVectors; t++) {
      let sum = four(cells[t] + c * 66 + 65);
      let factor = select(exp2(four(cells[t] + c * 66 + 64) - top[t]), vec4f(), sum == vec4f());
      total[t] = fma(sum, factor, total[t]);
      for (var p = 0u; p < 4; p++) { sums[t][p] = fma(mixed[t][p], vec4f(factor[p]), sums[t][p]); }
    }
  }
  if (spare) { return; }
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  for (var t = 0u; t < pairVectors; t++) {
    let inverse = select(1 / total[t], vec4f(), total[t] == vec4f()); // a row that sees nothing is zero, not 0/0
    for (var p = 0u; p < 4; p++) {
      let pair = 4 * (pairVectors * tile + t) + p;
      if (pair < pairs) {
        output[pair / group * stride + (head * group + pair % group) * quads + quad] = sums[t][p] * inverse[p];
      }
    }
  }
}
