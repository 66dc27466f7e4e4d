// Draws one token a workgroup from a row of logits: temperature, then top-k, top-p and min-p, then Gumbel-max, which
// needs no cumulative sum and no normalisation. Temperature 0 is the argmax. Ties go to the lowest index everywhere.
// Randomness is a hash of (token, position, seed): the draw does not depend on how many rows a pass has.
#include "../include/random.wgsl"
#include "../include/filters.wgsl"

struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
struct Uniforms { rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read_write> choices: array<Choice>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

var<workgroup> broken: atomic<u32>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let draw = draws[group.x];
  let start = draw.row * uniforms.stride;
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
  let greedy = bestToken[0];

  var sum = 0.0;
  for (var i = lane; i < vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  sums[lane] = sum;
  addUp(lane);

  if (draw.temperature > 0) {
    let lowest = lowestKept(lane, start, top, draw);
    score = LOWEST;
    token = vocabulary;
    for (var i = lane; i < vocabulary; i += threads) {
      let logit = logits[start + i];
      let scaled = (logit - top) / draw.temperature;
      if (keyOf(logit) < lowest || exp(scaled) < draw.minP) { continue; }
      let own = scaled + gumbel(i, draw.position, draw.seed);
      if (own > score) { score = own; token = i; }
    }
    bestScore[lane] = score;
    bestToken[lane] = token;
    settle(lane);
  }

  if (lane == 0) {
    let drawn = min(select(greedy, bestToken[0], draw.temperature > 0), vocabulary - 1);
    choices[draw.entry] = Choice(drawn, logits[start + drawn], top + log(sums[0]), atomicLoad(&broken));
  }
}
