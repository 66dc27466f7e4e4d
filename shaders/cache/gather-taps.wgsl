// output[row][tap · width + i] = input[tap][row][i]: the taps of a row one after the other, as a drafter's projection
// reads them. A lane moves one element, because the next tap may begin at any of them.
struct Uniforms { rows: u32, taps: u32, width: u32, most: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

fn stride(elements: u32) -> u32 { return ((elements + 31) / 32) * 32; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.taps * uniforms.width) { return; }
  let tap = id.x / uniforms.width;
  let i = id.x % uniforms.width;
  output[id.y * stride(uniforms.taps * uniforms.width) + id.x] =
    input[(tap * uniforms.most + id.y) * stride(uniforms.width) + i];
}
