// Multiplies the output of attention by the sigmoid of its gate: a lane is four numbers of one row.
struct Uniforms { rows: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> gate: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> attended: array<vec4f>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.stride / 4;
  if (id.x >= quads) { return; }
  let i = id.y * quads + id.x;
  attended[i] = attended[i] / (1 + exp(-gate[i]));
}
