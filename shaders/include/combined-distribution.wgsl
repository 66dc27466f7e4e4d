// Probabilities of an ensemble's members and of their combination r, from the statistics of their rows.
#include "ensemble.wgsl"
#include "order.wgsl"
#include "counter-random.wgsl"
#include "reduce.wgsl"

@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> statistics: array<SoftmaxStatistics>;

fn probability(position: u32, distribution: u32, token: u32) -> f32 {
  let row = statistics[position * uniforms.distributions + distribution];
  let logit = logits[startOf(position, distribution) + token];
  let mass = exp((logit - row.top) / temperatureOf(distribution));
  return select(0.0, mass / row.sum, keyOf(logit) >= row.lowest && mass >= job.minP);
}

// r, summed in the members' order.
fn combined(position: u32, token: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < uniforms.distributions; i++) {
    if (job.shares[i] > 0) { total += job.shares[i] * probability(position, i, token); }
  }
  return total;
}

// Leaves in bestToken[0] the best of these tokens under r minus `less` times the draft's distribution: the most
// probable one or, in sampled runs, a draw by the noise of this seed.
fn search(lane: u32, position: u32, first: u32, end: u32, less: f32, seed: u32) {
  var score = LOWEST;
  var token = uniforms.vocabulary;
  for (var i = first + lane; i < end; i += threads) {
    var own = combined(position, i);
    if (less > 0) { own -= less * probability(position, entry(position, 2), i); }
    if (own <= 0) { continue; }
    if (job.greedy == 0) { own = log(own) + gumbel(i, job.position + position, seed); }
    if (own > score) { score = own; token = i; }
  }
  reduceBest(lane, score, token);
}
