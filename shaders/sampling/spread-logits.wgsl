// Logits of a part of a vocabulary spread over all of it, so that no other kernel has to know about parts. A token that
// the part does not have gets a logit so low that it has no mass.
struct Uniforms { first: u32, rows: u32, vocabulary: u32, partStride: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> part: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<u32>; // of each token in the part; NOT_THERE
@group(0) @binding(2) var<storage, read_write> logits: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

const NOT_THERE = 0xffffffffu;
const IMPOSSIBLE = -1e30; // finite: an infinite logit would count as a damaged one

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.vocabulary) { return; }
  let row = uniforms.first + id.y;
  let entry = index[id.x];
  var logit = IMPOSSIBLE;
  if (entry != NOT_THERE) { logit = part[row * uniforms.partStride + entry]; }
  logits[row * uniforms.stride + id.x] = logit;
}
