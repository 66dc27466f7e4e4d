// Reads a buffer from end to end, neighbouring lanes neighbouring words. The xor of what a lane read is written out, so
// that no compiler drops the reads.
struct Uniforms { cells: u32, lanes: u32 }

@group(0) @binding(0) var<storage, read> input: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var seen = vec4u(0);
  for (var i = id.x; i < uniforms.cells; i += uniforms.lanes) { seen ^= input[i]; }
  output[id.x] = seen.x ^ seen.y ^ seen.z ^ seen.w;
}
