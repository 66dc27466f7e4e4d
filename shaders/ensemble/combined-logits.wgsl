// log r of one position as a row of logits.
#include "../include/combined-distribution.wgsl"

@group(0) @binding(3) var<storage, read_write> mixed: array<f32>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.vocabulary) { return; }
  let r = combined(0, id.x);
  var broken = 0u;
  for (var i = 0u; i < uniforms.distributions; i++) { broken |= statistics[i].broken; }
  mixed[id.x] = select(LOWEST, log(r), r > 0);
  if (broken > 0) { mixed[id.x] = bitcast<f32>(0x7f800000 * broken); } // +infinity, which no constant may be
}
