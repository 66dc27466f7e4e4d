// Means of kept rows: of each span's two runs of slots (a fork's shared past, and its own rows), in order. A lane owns
// one vec4.
#include "../include/structs/row-span.wgsl"

struct Uniforms { spans: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> kept: array<vec4f>;
@group(0) @binding(1) var<storage, read> spans: array<RowSpan>;
@group(0) @binding(2) var<storage, read_write> means: array<vec4f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.stride / 4;
  if (id.x >= quads) { return; }
  let span = spans[id.y];
  var sum = vec4f();
  for (var i = 0u; i < span.count; i++) { sum += kept[(span.first + i) * quads + id.x]; }
  for (var i = 0u; i < span.more; i++) { sum += kept[(span.further + i) * quads + id.x]; }
  means[id.y * quads + id.x] = sum / f32(max(1, span.count + span.more));
}
