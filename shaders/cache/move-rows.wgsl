// Moves what a cache keeps of each row apart from keys and values, as compact.wgsl moves those: one lane owns one word
// of all rows and makes the moves in order.
#include "../include/moves.wgsl"

struct Uniforms { count: u32, width: u32 }

@group(0) @binding(0) var<storage, read_write> store: array<u32>;
@group(0) @binding(1) var<storage, read> moves: array<Move>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.width) { return; }
  for (var i = 0u; i < uniforms.count; i++) {
    let step = moves[i];
    if (step.source == END) { break; }
    if (step.source == step.to) { continue; }
    store[step.to * uniforms.width + id.x] = store[step.source * uniforms.width + id.x];
  }
}
