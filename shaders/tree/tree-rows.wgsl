// The rows of a pass over a tree that only the device knows: what model/cache/visibility.ts makes of a tree that the
// host knows. A lane is a row; it walks from its node to the root.
#include "../include/structs/draft-node.wgsl"
#include "../include/structs/row.wgsl"
#include "../include/structs/tree-place.wgsl"

struct Uniforms { rows: u32 }

@group(0) @binding(0) var<storage, read> place: TreePlace;
@group(0) @binding(1) var<storage, read> nodes: array<DraftNode>;
@group(0) @binding(2) var<storage, read_write> rows: array<Row>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

const ROOT = 0xffffffffu;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane >= uniforms.rows) { return; }
  var row = Row();
  if (lane < place.count) {
    let own = place.first + lane;
    var depth = 0u;
    for (var node = nodes[own].parent; node != ROOT; node = nodes[node].parent) { depth++; }
    row.token = nodes[own].token;
    row.ringEntry = nodes[own].ringEntry;
    row.position = place.position + depth;
    row.slot = place.base + own;
    row.prefix = place.prefix;
    row.base = place.base;
    row.end = place.base;
    row.alive = 1;
    row.state = place.state;
    row.sources = 0xffffffffu; // every row, as rows.ts packs it
    // A window of 0 positions is none.
    let lowest = select(row.position + 1 - min(place.window, row.position + 1), 0, place.window == 0);
    row.first = min(lowest, place.prefix);
    row.start = place.start + min(lowest - row.first, place.base - place.start);
    row.chunkBoundary = place.base + 64;
    let edge = 64 - place.base % 64; // depth of the first node whose keys a causal run has in the next chunk
    for (var node = own; node != ROOT; node = nodes[node].parent) {
      if (depth == edge) { row.chunkBoundary = place.base + node; }
      if (place.position + depth >= lowest) {
        if (node < 32) { row.maskLow |= 1u << node; } else { row.maskHigh |= 1u << (node - 32); }
      }
      depth--;
    }
  }
  rows[lane] = row;
}
