// Sets the positions of the draws that follow the nodes of a tree that only the device knows: a child stands one after
// its node. A lane is a draw; it walks from its node to the root.
#include "../include/structs/draft-node.wgsl"
#include "../include/structs/draw.wgsl"
#include "../include/structs/tree-place.wgsl"

struct Uniforms { nodes: u32 }

@group(0) @binding(0) var<storage, read> place: TreePlace;
@group(0) @binding(1) var<storage, read> nodes: array<DraftNode>;
@group(0) @binding(2) var<storage, read_write> draws: array<Draw>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane >= uniforms.nodes) { return; }
  var depth = 0u;
  for (var node = nodes[lane].parent; node != 0xffffffff; node = nodes[node].parent) { depth++; }
  draws[lane].position = place.position + depth + 1;
}
