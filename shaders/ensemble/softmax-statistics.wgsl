// The statistics of all rows of a chain: a workgroup a row.
#include "../include/random.wgsl"
#include "../include/filters.wgsl"
#include "../include/ensemble.wgsl"

@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> statistics: array<SoftmaxStatistics>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

var<workgroup> broken: atomic<u32>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let start = startOf(group.y, group.x);
  let vocabulary = uniforms.vocabulary;
  var score = LOWEST;
  var token = vocabulary;
  for (var i = lane; i < vocabulary; i += threads) {
    let logit = logits[start + i];
    // By bits: a compiler may take a comparison with NaN for impossible. +infinity is no logit either.
    let bits = bitcast<u32>(logit);
    if ((bits & 0x7fffffff) > 0x7f800000 || bits == 0x7f800000) { atomicOr(&broken, 1); }
    if (logit > score) { score = logit; token = i; }
  }
  bestScore[lane] = score;
  bestToken[lane] = token;
  settle(lane);
  let top = bestScore[0];
  let temperature = temperatureOf(group.x);

  let lowest = lowestKept(lane, start, top, Draw(0, temperature, job.topK, job.topP, job.minP, 0, 0, 0, 0));
  var sum = 0.0;
  for (var i = lane; i < vocabulary; i += threads) {
    let logit = logits[start + i];
    let mass = exp((logit - top) / temperature);
    if (keyOf(logit) >= lowest && mass >= job.minP) { sum += mass; }
  }
  sums[lane] = sum;
  addUp(lane);
  if (lane == 0) {
    let best = min(bestToken[0], vocabulary - 1);
    statistics[group.y * uniforms.columns + group.x] = SoftmaxStatistics(top, sums[0], lowest, best, atomicLoad(&broken));
  }
}
