// Probabilities of an ensemble's members and of their combination, from statistics.
#include "random.wgsl"
#include "filters.wgsl"
#include "ensemble.wgsl"

@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> statistics: array<SoftmaxStatistics>;

// Of the distribution of a member, of the row that contrasts them all, or of a draft.
fn probability(position: u32, column: u32, token: u32) -> f32 {
  let softmaxStatistics = statistics[position * uniforms.columns + column];
  let logit = logits[startOf(position, column) + token];
  let mass = exp((logit - softmaxStatistics.top) / temperatureOf(column));
  return select(0.0, mass / softmaxStatistics.sum, keyOf(logit) >= softmaxStatistics.lowest && mass >= job.minP);
}

// r: always summed in the members' order.
fn combined(position: u32, token: u32) -> f32 {
  var total = 0.0;
  for (var column = 0u; column < uniforms.columns; column++) {
    if (job.shares[column] > 0) { total += job.shares[column] * probability(position, column, token); }
  }
  return total;
}

// Leaves in entry 0 the best of these tokens under r less so much of the draft's distribution: the most probable one, or a
// draw by the noise of this seed.
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
  bestScore[lane] = score;
  bestToken[lane] = token;
  settle(lane);
}
