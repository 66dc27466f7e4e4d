// The logits of contrastive decoding, l0 - mu * mean(l1 ...), as one more row among those of the members.
#include "../include/ensemble.wgsl"

@group(0) @binding(1) var<storage, read_write> rows: array<f32>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let token = id.x;
  if (token >= uniforms.vocabulary) { return; }
  var others = 0.0;
  for (var member = 1u; member < uniforms.members; member++) { others += rows[startOf(id.y, member) + token]; }
  let logit = rows[startOf(id.y, 0) + token] - job.mu * others / f32(uniforms.members - 1);
  rows[startOf(id.y, uniforms.members) + token] = logit;
}
