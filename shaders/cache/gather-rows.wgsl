// output[i] = input[indices[i]], whole rows; a lane moves one vec4.
struct Uniforms { rows: u32, width: u32 }

@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let cells = ((uniforms.width + 31) / 32) * 8;
  if (id.x < cells) { output[id.y * cells + id.x] = input[indices[id.y] * cells + id.x]; }
}
