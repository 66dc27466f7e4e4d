// Copies the rows of a pass to their slots, where they outlive it: a lane copies one vec4 of one row.
#include "../include/structs/row.wgsl"

struct Uniforms { rows: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read_write> kept: array<vec4f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.stride / 4;
  if (id.x >= quads) { return; }
  let row = rows[id.y];
  if (row.alive == 1) { kept[row.slot * quads + id.x] = input[id.y * quads + id.x]; }
}
