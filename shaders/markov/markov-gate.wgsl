// A gated Markov head: the embedding of the token before, each entry times the sigmoid of its gate.
struct Uniforms { rank: u32 }

@group(0) @binding(0) var<storage, read> gates: array<f32>;
@group(0) @binding(1) var<storage, read> embedded: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= uniforms.rank) { return; }
  output[i] = embedded[i] / (1.0 + exp(-gates[i]));
}
