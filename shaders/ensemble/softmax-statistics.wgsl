// The softmax statistics of all rows of a chain: a workgroup is a row.
#include "../include/ensemble.wgsl"
#include "../include/filters.wgsl"
#include "../include/scan-row.wgsl"

@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> statistics: array<SoftmaxStatistics>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let start = startOf(group.y, group.x);
  scanBest(lane, start);
  let top = bestScore[0];
  let best = min(bestToken[0], uniforms.vocabulary - 1);
  let temperature = temperatureOf(group.x);

  let lowest = lowestKept(lane, start, top, Draw(0, temperature, job.topK, job.topP, job.minP, 0, 0, 0, 0));
  var sum = 0.0;
  for (var i = lane; i < uniforms.vocabulary; i += threads) {
    let logit = logits[start + i];
    let mass = exp((logit - top) / temperature);
    if (keyOf(logit) >= lowest && mass >= job.minP) { sum += mass; }
  }
  reduceSum(lane, sum);
  if (lane == 0) {
    let own = SoftmaxStatistics(top, sums[0], lowest, best, atomicLoad(&broken));
    statistics[group.y * uniforms.distributions + group.x] = own;
  }
}
