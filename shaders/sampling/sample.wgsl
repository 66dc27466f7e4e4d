// Draws one token a workgroup from a row of logits: temperature, then top-k, top-p and min-p, then Gumbel-max, which
// needs no cumulative sum and no normalisation. Temperature 0 is the argmax. Ties go to the lowest token everywhere.
// Randomness is a hash of (token, position, seed): the draw does not depend on how many rows a pass has.
#include "../include/filters.wgsl"
#include "../include/counter-random.wgsl"
#include "../include/scan-row.wgsl"
#include "../include/structs/choice.wgsl"

struct Uniforms { rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read_write> choices: array<Choice>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let draw = draws[group.x];
  let start = draw.row * uniforms.stride;
  let vocabulary = uniforms.vocabulary;

  scanBest(lane, start);
  let top = bestScore[0];
  let greedy = bestToken[0];
  sumExponentials(lane, start, top);

  if (draw.temperature > 0) {
    let lowest = lowestKept(lane, start, top, draw);
    var score = LOWEST;
    var token = vocabulary;
    for (var i = lane; i < vocabulary; i += threads) {
      let logit = logits[start + i];
      let scaled = (logit - top) / draw.temperature;
      if (keyOf(logit) < lowest || exp(scaled) < draw.minP) { continue; }
      let own = scaled + gumbel(i, draw.position, draw.seed);
      if (own > score) { score = own; token = i; }
    }
    reduceBest(lane, score, token);
  }

  if (lane == 0) {
    let drawn = min(select(greedy, bestToken[0], draw.temperature > 0), vocabulary - 1);
    choices[draw.entry] = Choice(drawn, logits[start + drawn], top + log(sums[0]), atomicLoad(&broken));
  }
}
