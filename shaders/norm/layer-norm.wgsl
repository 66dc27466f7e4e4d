// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias, a row at a time; the bias follows the weights. Lanes
// share a row as in normalize-rows.wgsl: the order of a sum depends on the width alone. The variance is summed from the
// differences: by squares of x it would lose the digits that they have in common.
override threads: u32 = 64;
override rowsPerGroup: u32 = select(1u, 8u, threads == 1u);
override biased: u32 = 1;

struct Uniforms { rows: u32, width: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

var<workgroup> partial: array<f32, threads>;

// Of the lanes of a row.
fn sumOf(lane: u32, own: vec4f) -> f32 {
  let sum = (own.x + own.y) + (own.z + own.w);
  if (threads == 1) { return sum; }
  workgroupBarrier(); // the sum before this one has been read
  partial[lane] = sum;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { partial[lane] += partial[lane + half]; }
    workgroupBarrier();
  }
  return partial[0];
}

// The padding of a row stays zero.
fn inside(cell: u32, x: vec4f) -> vec4f {
  return select(vec4f(), x, vec4u(4 * cell) + vec4u(0, 1, 2, 3) < vec4u(uniforms.width));
}

fn four(first: u32) -> vec4f {
  return vec4f(weight[first], weight[first + 1], weight[first + 2], weight[first + 3]);
}

@compute @workgroup_size(threads, rowsPerGroup)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.x * rowsPerGroup + local.y;
  let lane = local.x;
  let cells = select(0, (uniforms.width + 3) / 4, row < uniforms.rows);
  let start = row * ((uniforms.width + 31) / 32) * 8;
  var sum = vec4f();
  for (var i = lane; i < cells; i += threads) { sum += input[start + i]; }
  let mean = sumOf(lane, sum) / f32(uniforms.width);
  var squares = vec4f();
  for (var i = lane; i < cells; i += threads) {
    let x = inside(i, input[start + i] - mean);
    squares = fma(x, x, squares);
  }
  let scale = 1.0 / sqrt(sumOf(lane, squares) / f32(uniforms.width) + uniforms.epsilon);
  for (var i = lane; i < cells; i += threads) {
    let x = (input[start + i] - mean) * scale;
    var y = x * four(4 * i);
    if (biased == 1) { y = fma(x, four(4 * i), four(uniforms.width + 4 * i)); }
    output[start + i] = inside(i, y);
  }
}
