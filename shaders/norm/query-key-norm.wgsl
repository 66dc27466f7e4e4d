// RMS norms over all heads of a row's queries together and over all heads of its keys, in place. A workgroup is one of
// the two of one row, and its lanes meet as in normalize-rows.wgsl: the order of a sum depends on the width alone.
override threads: u32 = 64;

struct Uniforms { rows: u32, stride: u32, queries: u32, keys: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> queryNorm: array<vec4f>;
@group(0) @binding(1) var<storage, read> keyNorm: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> qkv: array<vec4f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

var<workgroup> partial: array<f32, threads>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let isKey = group.y == 1;
  let width = select(uniforms.queries, uniforms.keys, isKey);
  let cells = width / 4; // a head has a multiple of eight dimensions
  let start = group.x * uniforms.stride / 4 + select(0u, uniforms.queries / 4, isKey);
  var sum = vec4f();
  for (var i = lane; i < cells; i += threads) {
    let x = qkv[start + i];
    sum = fma(x, x, sum);
  }
  var squares = (sum.x + sum.y) + (sum.z + sum.w);
  if (threads > 1) {
    partial[lane] = squares;
    workgroupBarrier();
    for (var half = threads / 2; half > 0; half /= 2) {
      if (lane < half) { partial[lane] += partial[lane + half]; }
      workgroupBarrier();
    }
    squares = partial[0];
  }
  let scale = 1.0 / sqrt(squares / f32(width) + uniforms.epsilon);
  for (var i = lane; i < cells; i += threads) {
    var weight = keyNorm[min(i, uniforms.keys / 4 - 1)];
    if (!isKey) { weight = queryNorm[i]; }
    qkv[start + i] *= scale * weight;
  }
}
