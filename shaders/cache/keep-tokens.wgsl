// Writes the token of each row of a pass to its slot, so that the row can be computed anew. A lane is a row.
#include "../include/structs/choice.wgsl"
#include "../include/structs/row.wgsl"

struct Uniforms { rows: u32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.rows || rows[id.x].alive == 0) { return; }
  var token = rows[id.x].token;
  let ringEntry = rows[id.x].ringEntry;
  if (ringEntry > 0) { token = tokenRing[ringEntry - 1].token; }
  tokens[rows[id.x].slot] = token;
}
