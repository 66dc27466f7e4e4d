// Flash-decoding, 2 of 2: joins the chunks of a row in index order, each scaled to the row's maximum. A lane owns one
// dimension of one pair vector.
#include "../include/attention-tile.wgsl"

struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> scratch: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

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

  var top = vec4f(HIDDEN);
  for (var c = 0u; c * 64 < end; c++) {
    if (live(tile, c)) { top = max(top, scratch[(cell + c) * span + uniforms.headDim]); }
  }
  var total = vec4f();
  var mixed = vec4f();
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
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
