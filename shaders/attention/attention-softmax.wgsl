// Attention without barriers, 2 of 3: the softmax of each chunk by itself. A lane owns one chunk of 64 keys for one
// pair vector: its maximum, the powers of two below it, and their sum in key order. Stage 3 joins the chunks.
#include "../include/attention-tile.wgsl"

struct Uniforms { rows: u32, heads: u32, keyValueHeads: u32, capacity: u32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> scratch: array<vec4f>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let chunk = id.x;
  let head = id.y;
  let pairVector = id.z;
  let chunks = uniforms.capacity / 64;
  if (chunk >= chunks || !live(pairVector / pairVectors, chunk)) { return; }
  let stored = (uniforms.rows * (uniforms.heads / uniforms.keyValueHeads) + 3) / 4;
  let whole = (head * stored + pairVector) * (chunks * 66 + 64);
  let start = whole + chunk * 66;
  let spare = whole + chunks * 66;
  var more = vec4<bool>();
  if (branched == 1) { more = joined(pairVector, chunk); }
  var top = vec4f(HIDDEN);
  for (var i = 0u; i < 64; i++) { top = max(top, scratch[start + i]); }
  if (branched == 1 && any(more)) {
    for (var i = 0u; i < 64; i++) { top = max(top, select(vec4f(HIDDEN), scratch[spare + i], more)); }
  }
  var sum = vec4f();
  for (var i = 0u; i < 64; i++) {
    let score = scratch[start + i];
    let weight = select(exp2(score - top), vec4f(), score == vec4f(HIDDEN));
    scratch[start + i] = weight;
    sum += weight;
  }
  if (branched == 1 && any(more)) {
    for (var i = 0u; i < 64; i++) {
      let score = select(vec4f(HIDDEN), scratch[spare + i], more);
      let weight = select(exp2(score - top), vec4f(), score == vec4f(HIDDEN));
      for (var p = 0u; p < 4; p++) {
        if (more[p]) { scratch[spare + i][p] = weight[p]; }
      }
      sum += weight;
    }
  }
  scratch[start + 64] = top;
  scratch[start + 65] = sum;
}
