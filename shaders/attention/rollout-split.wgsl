// Rollout after flash-decoding, which keeps no weights: a second pass over a row's keys, with each head's maximum and
// sum known. A workgroup is a row. Its lanes own one key of each chunk and meet once, at the end, so the order of the
// sums depends on the slots modulo 64 alone.
#include "../include/attention-keys.wgsl"
#include "../include/rollout.wgsl"

@group(0) @binding(0) var<storage, read> query: array<vec4f>;
@group(0) @binding(1) var<storage, read> keys: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> scratch: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> rolloutState: array<vec2f>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

var<workgroup> norms: array<vec2f, 64>;
var<workgroup> folded: array<vec3f, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = rows[id.x];
  if (row.alive == 0) { return; }
  let group = uniforms.heads / uniforms.keyValueHeads;
  let quads = uniforms.headDim / 4;
  let chunks = uniforms.capacity / 64;
  let reached = row.slot / 64 + 1; // a chain's row sees nothing past itself
  let span = uniforms.headDim + 2;
  let tiles = (uniforms.rows * group + 3) / 4;
  if (lane < uniforms.heads) {
    let pair = id.x * group + lane % group;
    let cell = (lane / group * tiles + pair / 4) * chunks;
    var top = HIDDEN;
    for (var c = 0u; c < reached; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) {
        top = max(top, scratch[(cell + c) * span + uniforms.headDim][pair % 4]);
      }
    }
    var total = 0.0;
    for (var c = 0u; c < reached; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) {
        let start = (cell + c) * span + uniforms.headDim;
        total = fma(scratch[start + 1][pair % 4], exp2(scratch[start][pair % 4] - top), total);
      }
    }
    norms[lane] = vec2f(top, 1 / total);
  }
  workgroupBarrier();

  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  var sums = vec3f();
  for (var c = 0u; c < reached; c++) {
    let bits = seen(row, i32(c * 64));
    if ((select(bits.y, bits.x, lane < 32) & (1u << (lane & 31))) == 0) { continue; }
    var weights = 0.0;
    for (var h = 0u; h < uniforms.heads; h++) {
      let q = id.x * stride + h * quads;
      let keyChunk = h / group * chunks + c;
      var score = 0.0;
      for (var i = 0u; i < quads; i++) { score = chain(query[q + i], key4(keyChunk, i, lane), score); }
      weights = fma(exp2(scored(vec4f(score)).x - norms[h].x), norms[h].y, weights);
    }
    sums = weighed(row, c * 64 + lane, averaged(weights), sums);
  }
  folded[lane] = sums;
  workgroupBarrier();
  for (var i = 32u; i > 0; i /= 2) {
    if (lane < i) { folded[lane] += folded[lane + i]; }
    workgroupBarrier();
  }
  if (lane == 0) { store(row, folded[0]); }
}
