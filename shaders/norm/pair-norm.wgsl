// output = [first / rms(first) · firstWeight | second / rms(second) · secondWeight], a row at a time: an embedding next
// to a feature, each with a norm of its own. Lanes share a row as in normalize-rows.wgsl: the order of a sum depends on
// the width alone.
override threads: u32 = 64;
override rowsPerGroup: u32 = select(1u, 8u, threads == 1u);

struct Uniforms { rows: u32, width: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> first: array<f32>;
@group(0) @binding(1) var<storage, read> firstWeight: array<f32>;
@group(0) @binding(2) var<storage, read> second: array<f32>;
@group(0) @binding(3) var<storage, read> secondWeight: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

var<workgroup> partial: array<vec2f, threads>;

fn stride(elements: u32) -> u32 { return ((elements + 31) / 32) * 32; }

@compute @workgroup_size(threads, rowsPerGroup)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.x * rowsPerGroup + local.y;
  let lane = local.x;
  let start = row * stride(uniforms.width);
  var squares = vec2f();
  if (row < uniforms.rows) {
    for (var i = lane; i < uniforms.width; i += threads) {
      let x = vec2f(first[start + i], second[start + i]);
      squares = fma(x, x, squares);
    }
  }
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
    let destination = row * stride(2 * uniforms.width);
    for (var i = lane; i < uniforms.width; i += threads) {
      output[destination + i] = first[start + i] * scale.x * firstWeight[i];
      output[destination + uniforms.width + i] = second[start + i] * scale.y * secondWeight[i];
    }
  }
}
