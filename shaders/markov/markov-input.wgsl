// The input of a small matrix of a DSpark head, in one row: a block row's hidden state, the embedding of the token before
// and the state of a recurrent head, each at its own column. A part whose column is NOT_THERE is left out.
struct Uniforms { row: u32, to: u32, hidden: u32, rank: u32, hiddenAt: u32, embeddedAt: u32, stateAt: u32, columns: u32 }

@group(0) @binding(0) var<storage, read> hidden: array<f32>;
@group(0) @binding(1) var<storage, read> embedded: array<f32>;
@group(0) @binding(2) var<storage, read> state: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

fn stride(elements: u32) -> u32 { return ((elements + 31) / 32) * 32; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= uniforms.columns) { return; }
  var value = 0.0;
  // A column before a part's first one wraps round to a large number.
  if (i - uniforms.hiddenAt < uniforms.hidden) {
    value = hidden[uniforms.row * stride(uniforms.hidden) + i - uniforms.hiddenAt];
  } else if (i - uniforms.embeddedAt < uniforms.rank) {
    value = embedded[i - uniforms.embeddedAt];
  } else if (i - uniforms.stateAt < uniforms.rank) {
    value = state[i - uniforms.stateAt];
  }
  output[uniforms.to * stride(uniforms.columns) + i] = value;
}
