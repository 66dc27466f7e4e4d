// y = x / sqrt(mean(x^2) + epsilon) * weight, a row at a time. `threads` lanes share a row: each sums every threads-th
// vec4, and a tree of fixed shape adds the lanes, so the order depends on the width alone. One lane a row needs no
// barrier; then 8 rows share a workgroup, which is one SIMD register on lavapipe. Needs `uniforms`, and `give`, which
// gets every cell of the input and of y.
override threads: u32 = 64;
override rowsPerGroup: u32 = select(1u, 8u, threads == 1u);

@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4f>;

var<workgroup> partial: array<f32, threads>;

@compute @workgroup_size(threads, rowsPerGroup)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.x * rowsPerGroup + local.y;
  let lane = local.x;
  let cells = (uniforms.width + 3) / 4;
  let start = row * ((uniforms.width + 31) / 32) * 8;
  var sum = vec4f();
  if (row < uniforms.rows) {
    for (var i = lane; i < cells; i += threads) {
      let x = input[start + i];
      sum = fma(x, x, sum);
    }
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
  if (row < uniforms.rows) {
    let scale = 1.0 / sqrt(squares / f32(uniforms.width) + uniforms.epsilon);
    for (var i = lane; i < cells; i += threads) {
      let x = input[start + i];
      give(start + i, x, x * scale * weight[i]);
    }
  }
}
