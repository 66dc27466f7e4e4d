// Rollout after the three stages of attention without barriers, whose weights still lie in `scratch`. A workgroup of
// one subgroup is a row. Its lanes own every eighth key and meet twice, which costs little in so small a workgroup. (A
// lane a row, with no meeting, took 60 µs a layer at 500 keys on lavapipe: twice a tenth of the bundled draft's pass.)
#include "../include/rollout.wgsl"

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> scratch: array<f32>;
@group(0) @binding(2) var<storage, read_write> rolloutState: array<vec2f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

const lanes = 8u;

// Of each head: where its scratch begins, and its maximum and the inverse of its sum.
var<workgroup> cells: array<u32, 64>;
var<workgroup> norms: array<vec2f, 64>;
var<workgroup> parts: array<vec3f, lanes>;

// As attention-scores.wgsl lays it out.
fn cellOf(row: u32, head: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pair = row * group + head % group;
  let tiles = (uniforms.rows * group + 3) / 4;
  return ((head / group * tiles + pair / 4) * (uniforms.capacity / 64 * 66 + 64)) * 4 + pair % 4;
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = rows[id.x];
  if (row.alive == 0) { return; }
  let chunks = row.slot / 64 + 1; // a chain's row sees nothing past itself
  for (var h = lane; h < uniforms.heads; h += lanes) {
    let cell = cellOf(id.x, h);
    var top = HIDDEN;
    for (var c = 0u; c < chunks; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) { top = max(top, scratch[cell + (c * 66 + 64) * 4]); }
    }
    var total = 0.0;
    for (var c = 0u; c < chunks; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) {
        let start = cell + (c * 66 + 64) * 4;
        total = fma(scratch[start + 4], exp2(scratch[start] - top), total);
      }
    }
    cells[h] = cell;
    norms[h] = vec2f(top, 1 / total);
  }
  workgroupBarrier();

  var sums = vec3f();
  for (var c = 0u; c < chunks; c++) {
    if (all(seen(row, i32(c * 64)) == vec2u())) { continue; }
    // The lane's eight keys of the chunk: key 8 i + lane. Sums run chunk by chunk, so a fork's are its parent's.
    var low = vec4f();
    var high = vec4f();
    for (var h = 0u; h < uniforms.heads; h++) {
      let start = cells[h] + c * 264;
      let factor = exp2(scratch[start + 256] - norms[h].x) * norms[h].y;
      let first = start + lane * 4;
      let weights = vec4f(scratch[first], scratch[first + 32], scratch[first + 64], scratch[first + 96]);
      let more = vec4f(scratch[first + 128], scratch[first + 160], scratch[first + 192], scratch[first + 224]);
      low = fma(weights, vec4f(factor), low);
      high = fma(more, vec4f(factor), high);
    }
    for (var i = 0u; i < 8; i++) {
      let weights = select(high[i % 4], low[i % 4], i < 4);
      sums = weighed(row, c * 64 + i * lanes + lane, averaged(weights), sums);
    }
  }
  parts[lane] = sums;
  workgroupBarrier();
  if (lane > 0) { return; }
  for (var i = 1u; i < lanes; i++) { sums += parts[i]; }
  store(row, sums);
}
