// rows[row] += bias: the correction of one row of logits.
struct Uniforms { row: u32, columns: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> bias: array<f32>;
@group(0) @binding(1) var<storage, read_write> rows: array<f32>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.columns) { return; }
  rows[uniforms.row * uniforms.stride + id.x] += bias[id.x];
}
