// Draws one token a workgroup among those that a constraint allows. The filters (temperature, top-k, top-p, min-p) come
// first, on the whole row, so that an allowed token that `sample` draws is also the one drawn here: the noise is the same.
// Where the filters leave no allowed token, and at temperature 0, it is the most probable allowed one.
#include "../include/filters.wgsl"
#include "../include/counter-random.wgsl"
#include "../include/scan-row.wgsl"
#include "../include/structs/choice.wgsl"

struct Uniforms { rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read> allowed: array<u32>; // bit t % 32 of word t / 32: token t may be drawn
@group(0) @binding(3) var<storage, read_write> choices: array<Choice>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

fn isAllowed(token: u32) -> bool { return ((allowed[token / 32] >> (token % 32)) & 1) == 1; }

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let draw = draws[group.x];
  let start = draw.row * uniforms.stride;
  let vocabulary = uniforms.vocabulary;

  scanBest(lane, start);
  let top = bestScore[0];
  sumExponentials(lane, start, top);

  var drawn = vocabulary;
  if (draw.temperature > 0) {
    let lowest = lowestKept(lane, start, top, draw);
    var score = LOWEST;
    var token = vocabulary;
    for (var i = lane; i < vocabulary; i += threads) {
      let logit = logits[start + i];
      let scaled = (logit - top) / draw.temperature;
      if (!isAllowed(i) || keyOf(logit) < lowest || exp(scaled) < draw.minP) { continue; }
      let own = scaled + gumbel(i, draw.position, draw.seed);
      if (own > score) { score = own; token = i; }
    }
    reduceBest(lane, score, token);
    drawn = bestToken[0];
    workgroupBarrier(); // all lanes have read it
  }

  var score = LOWEST;
  var token = vocabulary;
  for (var i = lane; i < vocabulary; i += threads) {
    let logit = logits[start + i];
    if (isAllowed(i) && logit > score) { score = logit; token = i; }
  }
  reduceBest(lane, score, token);

  if (lane == 0) {
    let chosen = min(select(drawn, bestToken[0], drawn == vocabulary), vocabulary - 1);
    choices[draw.entry] = Choice(chosen, logits[start + chosen], top + log(sums[0]), atomicLoad(&broken));
  }
}
