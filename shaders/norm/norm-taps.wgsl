// RMS norm of some taps in rows that hold several side by side; the other taps pass unchanged. A workgroup is one tap of
// one row. Its lanes are added by a tree of fixed shape, so the order of a sum depends on the width alone.
override threads: u32 = 64;

struct Uniforms { rows: u32, taps: u32, width: u32, first: u32, normed: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>; // of taps [first, first + normed), one after the other
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

var<workgroup> partial: array<f32, threads>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let tap = group.x;
  let width = uniforms.width;
  let start = group.y * ((uniforms.taps * width + 31) / 32) * 32 + tap * width;
  var squares = 0.0;
  for (var i = lane; i < width; i += threads) { squares = fma(input[start + i], input[start + i], squares); }
  partial[lane] = squares;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { partial[lane] += partial[lane + half]; }
    workgroupBarrier();
  }
  let scale = 1.0 / sqrt(partial[0] / f32(width) + uniforms.epsilon);
  let own = tap >= uniforms.first && tap < uniforms.first + uniforms.normed;
  for (var i = lane; i < width; i += threads) {
    var value = input[start + i];
    if (own) { value *= scale * weight[(tap - uniforms.first) * width + i]; }
    output[start + i] = value;
  }
}
