// A recurrent Markov head. `joint` is gate, candidate and output, one after the other: the gate says how much of the
// state stays, and the output does not wait for the new state.
struct Uniforms { rank: u32 }

@group(0) @binding(0) var<storage, read> joint: array<f32>;
@group(0) @binding(1) var<storage, read_write> state: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

// Beyond 15 the result is 1 in f32, and some drivers overflow.
fn bounded(x: f32) -> f32 { return tanh(clamp(x, -15.0, 15.0)); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= uniforms.rank) { return; }
  let stays = 1.0 / (1.0 + exp(-joint[i]));
  state[i] = stays * state[i] + (1.0 - stays) * bounded(joint[uniforms.rank + i]);
  output[i] = bounded(joint[2 * uniforms.rank + i]);
}
