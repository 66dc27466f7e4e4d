// The distribution that sample.wgsl draws from, written out: the probability of every token after temperature, top-k,
// top-p and min-p. A workgroup is a row. Temperature 0 is one-hot at the argmax.
#include "../include/filters.wgsl"
#include "../include/scan-row.wgsl"

struct Uniforms { rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read_write> distributions: array<f32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let draw = draws[group.x];
  let start = draw.row * uniforms.stride;
  let vocabulary = uniforms.vocabulary;
  if (draw.distribution == 0xffffffff) { return; }

  scanBest(lane, start);
  let top = bestScore[0];
  let greedy = bestToken[0];

  var lowest = 0u;
  if (draw.temperature > 0) { lowest = lowestKept(lane, start, top, draw); }
  let distribution = draw.distribution * uniforms.stride;
  var sum = 0.0;
  for (var i = lane; i < vocabulary; i += threads) {
    let logit = logits[start + i];
    let mass = exp((logit - top) / draw.temperature);
    let kept = select(i == greedy, keyOf(logit) >= lowest && mass >= draw.minP, draw.temperature > 0);
    let own = select(0.0, select(1.0, mass, draw.temperature > 0), kept);
    distributions[distribution + i] = own;
    sum += own;
  }
  reduceSum(lane, sum);
  for (var i = lane; i < vocabulary; i += threads) { distributions[distribution + i] /= sums[0]; }
}
