// The RMS norm of each head of a delta net's output, times silu of its gate. A lane makes one number and repeats the sum
// of its head's squares, in the same order as the others. A row of `gates` has the gates from `firstGate` on.
struct Uniforms { rows: u32, heads: u32, headDim: u32, width: u32, firstGate: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> gates: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

// Elements between two rows of an activation of so many elements.
fn stride(elements: u32) -> u32 { return (elements + 31) / 32 * 32; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let values = uniforms.heads * uniforms.headDim;
  if (id.x >= values) { return; }
  let source = id.y * stride(values);
  let head = source + id.x / uniforms.headDim * uniforms.headDim;
  var sum = 0.0;
  for (var i = 0u; i < uniforms.headDim; i++) {
    let x = input[head + i];
    sum = fma(x, x, sum);
  }
  let scale = 1 / sqrt(sum / f32(uniforms.headDim) + uniforms.epsilon);
  let gate = gates[id.y * stride(uniforms.width) + uniforms.firstGate + id.x];
  output[source + id.x] = input[source + id.x] * scale * weight[id.x % uniforms.headDim] * (gate / (1 + exp(-gate)));
}
