// Rollout behind the three stages of attention without barriers, whose weights still lie in `scratch`: a lane owns a row
// and goes through its keys in order. Loads are a hundredth of attention's, so one dispatch beats lanes that must meet.
@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> scratch: array<f32>;
@group(0) @binding(2) var<storage, read_write> columns: array<vec2f>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

// The first number of a head's scratch, as attention-scores.wgsl lays it out.
fn cellOf(row: u32, head: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let pair = row * group + head % group;
  let tiles = (uniforms.rows * group + 3) / 4;
  return ((head / group * tiles + pair / 4) * (uniforms.capacity / 64 * 66 + 64)) * 4 + pair % 4;
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.rows) { return; }
  let row = rows[id.x];
  if (row.alive == 0) { return; }
  let chunks = row.slot / 64 + 1; // a chain's row sees nothing behind itself
  var top: array<f32, 64>;
  var inverse: array<f32, 64>;
  for (var h = 0u; h < uniforms.heads; h++) {
    let cell = cellOf(id.x, h);
    var highest = -3.0e38;
    for (var c = 0u; c < chunks; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) { highest = max(highest, scratch[cell + (c * 66 + 64) * 4]); }
    }
    var total = 0.0;
    for (var c = 0u; c < chunks; c++) {
      if (any(seen(row, i32(c * 64)) != vec2u())) {
        let start = cell + (c * 66 + 64) * 4;
        total = fma(scratch[start + 4], exp2(scratch[start] - highest), total);
      }
    }
    top[h] = highest;
    inverse[h] = 1 / total;
  }
  var sums = vec2f();
  var weights: array<f32, 64>;
  for (var c = 0u; c < chunks; c++) {
    if (all(seen(row, i32(c * 64)) == vec2u())) { continue; }
    let count = min(64, row.slot + 1 - c * 64);
    for (var i = 0u; i < count; i++) { weights[i] = 0; } // declared in here, lavapipe would not clear it
    for (var h = 0u; h < uniforms.heads; h++) {
      let start = cellOf(id.x, h) + c * 264;
      let factor = exp2(scratch[start + 256] - top[h]) * inverse[h];
      for (var i = 0u; i < count; i++) { weights[i] = fma(scratch[start + i * 4], factor, weights[i]); }
    }
    for (var i = 0u; i < count; i++) { sums = fma(handed(row, c * 64 + i), vec2f(averaged(weights[i])), sums); }
  }
  store(row, sums);
}
