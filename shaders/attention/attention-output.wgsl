// Attention without barriers, 3 of 3: the weighted sum of values. A lane owns four dimensions of a kv head for one pair
// vector. Sums run in key order within a chunk, then chunk by chunk, each scaled to the row's maximum.
#include "../include/attention-tile.wgsl"
#include "../include/attention-values.wgsl"
#include "../include/ring.wgsl"

struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, ring: u32 }

@group(0) @binding(0) var<storage, read> values: array<vec2u>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> scratch: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

// Sums of four dimensions of values for each pair.
struct Mixed { x: vec4f, y: vec4f, z: vec4f, w: vec4f }

fn mix4(v: vec4f, weight: vec4f, sums: Mixed) -> Mixed {
  return Mixed(
    fma(v, weight.xxxx, sums.x), fma(v, weight.yyyy, sums.y), fma(v, weight.zzzz, sums.z), fma(v, weight.wwww, sums.w),
  );
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.headDim / 4;
  let quad = id.x;
  let head = id.y;
  let tile = id.z;
  if (quad >= quads) { return; }
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pairs = uniforms.rows * group;
  let chunks = uniforms.capacity / 64;
  let cells = (head * ((pairs + 3) / 4) + tile) * (chunks * 66 + 64);
  let end = bound(tile);

  var top = vec4f(HIDDEN);
  for (var c = 0u; c * 64 < end; c++) {
    if (live(tile, c)) { top = max(top, scratch[cells + c * 66 + 64]); }
  }
  var total = vec4f();
  var x = vec4f();
  var y = vec4f();
  var z = vec4f();
  var w = vec4f();
  for (var c = 0u; c * 64 < end; c++) {
    if (!live(tile, c)) { continue; }
    let start = cells + c * 66;
    let source = placeOf(head, c) * 64;
    var mixed = Mixed();
    for (var i = 0u; i < min(64, end - c * 64); i++) {
      mixed = mix4(value4(source + i, quad), scratch[start + i], mixed);
    }
    if (branched == 1) {
      let more = joined(tile, c);
      let next = placeOf(head, c + 1) * 64;
      for (var i = 0u; i + 64 < min(128, end - c * 64); i++) {
        let weight = select(vec4f(), scratch[cells + chunks * 66 + i], more);
        mixed = mix4(value4(next + i, quad), weight, mixed);
      }
    }
    let sum = scratch[start + 65];
    let factor = select(exp2(scratch[start + 64] - top), vec4f(), sum == vec4f());
    total = fma(sum, factor, total);
    x = fma(mixed.x, factor.xxxx, x);
    y = fma(mixed.y, factor.yyyy, y);
    z = fma(mixed.z, factor.zzzz, z);
    w = fma(mixed.w, factor.wwww, w);
  }
  // A row that sees nothing is zero, not 0/0.
  let inverse = select(1 / total, vec4f(), total == vec4f());
  let stride = ((uniforms.heads * uniforms.headDim + 31) / 32) * 8;
  for (var p = 4 * tile; p < min(4 * tile + 4, pairs); p++) {
    let i = p / group * stride + (head * group + p % group) * quads + quad;
    switch (p % 4) {
      case 0: { output[i] = x * inverse.x; }
      case 1: { output[i] = y * inverse.y; }
      case 2: { output[i] = z * inverse.z; }
      default: { output[i] = w * inverse.w; }
    }
  }
}
