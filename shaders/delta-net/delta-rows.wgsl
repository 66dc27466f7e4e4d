// What the delta rule takes of each row of a pass: the query and the key of length 1, the query also divided by the root
// of its dimensions, the value, and of each value head its decay and its rate. Key, value, decay and rate go to the
// row's slot. A lane makes one number of one row; those of a head repeat the sum of its squares, in the same order.
#include "../include/structs/row.wgsl"

struct Uniforms {
  rows: u32, keyHeads: u32, keyDim: u32, valueHeads: u32, valueDim: u32,
}

@group(0) @binding(0) var<storage, read> convolved: array<f32>;
@group(0) @binding(1) var<storage, read> rates: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> decayLog: array<f32>;
@group(0) @binding(4) var<storage, read> decayBias: array<f32>;
@group(0) @binding(5) var<storage, read_write> kept: array<f32>;
@group(0) @binding(6) var<storage, read_write> queries: array<f32>;
@group(0) @binding(7) var<uniform> uniforms: Uniforms;

// Elements between two rows of an activation of so many elements.
fn stride(elements: u32) -> u32 { return (elements + 31) / 32 * 32; }

fn inverseLength(head: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < uniforms.keyDim; i++) {
    let x = convolved[head + i];
    sum = fma(x, x, sum);
  }
  return 1 / sqrt(sum + 1e-6);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let keys = uniforms.keyHeads * uniforms.keyDim;
  let values = uniforms.valueHeads * uniforms.valueDim;
  let heads = uniforms.valueHeads;
  let r = id.y;
  let row = rows[r];
  let source = r * stride(2 * keys + values);
  let slot = row.slot * (keys + values + 2 * heads);
  var i = id.x;
  if (i < keys) {
    let scale = inverseLength(source + i / uniforms.keyDim * uniforms.keyDim) / sqrt(f32(uniforms.keyDim));
    queries[r * stride(keys) + i] = convolved[source + i] * scale;
    return;
  }
  i -= keys;
  if (row.alive == 0) { return; }
  if (i < keys) {
    let scale = inverseLength(source + keys + i / uniforms.keyDim * uniforms.keyDim);
    kept[slot + i] = convolved[source + keys + i] * scale;
    return;
  }
  i -= keys;
  if (i < values) {
    kept[slot + keys + i] = convolved[source + 2 * keys + i];
    return;
  }
  i -= values;
  if (i >= heads) { return; }
  // A row of the rates is, of each value head, the rate and then the decay, both before their functions.
  let rate = rates[r * stride(2 * heads) + i];
  let x = rates[r * stride(2 * heads) + heads + i] + decayBias[i];
  let softplus = max(x, 0) + log(1 + exp(-abs(x)));
  kept[slot + keys + values + i] = exp(-exp(decayLog[i]) * softplus);
  kept[slot + keys + values + heads + i] = 1 / (1 + exp(-rate));
}
