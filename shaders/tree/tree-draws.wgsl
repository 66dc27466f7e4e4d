// Gives their positions to the draws behind the nodes of a tree that only the device knows: a node's child stands one
// behind the node. A lane a draw; it walks from its node to the root.
// As in filters.wgsl.
#include "../include/nodes.wgsl"

struct Draw {
  row: u32, temperature: f32, topK: u32, topP: f32, minP: f32, seed: u32, position: u32, slot: u32, distribution: u32,
}
struct Uniforms { nodes: u32 }

@group(0) @binding(0) var<storage, read> place: Place;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read_write> draws: array<Draw>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane >= uniforms.nodes) { return; }
  var depth = 0u;
  for (var node = nodes[lane].parent; node != 0xffffffff; node = nodes[node].parent) { depth++; }
  draws[lane].position = place.position + depth + 1;
}
