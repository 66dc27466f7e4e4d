// The n most probable tokens of one row of logits, best first, the lower token first among equals, with the row's
// log-sum-exp. One workgroup takes the maximum n times, each time of what comes after the one before it: n is small.
#include "../include/scan-row.wgsl"
#include "../include/structs/choice.wgsl"

struct Uniforms { n: u32, vocabulary: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> row: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<Choice>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(threads)
fn main(@builtin(local_invocation_index) lane: u32) {
  let vocabulary = uniforms.vocabulary;
  let start = row[0] * ((vocabulary + 31) / 32) * 32;
  scanBest(lane, start);
  let top = bestScore[0];
  for (var place = 0u; place < uniforms.n; place++) {
    if (place > 0) { scanNext(lane, start, false); }
    if (lane == 0) {
      // `vocabulary` where fewer than n tokens are possible.
      output[place].token = select(bestToken[0], vocabulary, bestScore[0] <= LOWEST);
      output[place].logit = max(bestScore[0], LOWEST);
    }
  }
  sumExponentials(lane, start, top);
  for (var place = lane; place < uniforms.n; place += threads) {
    output[place].logSumExp = top + log(sums[0]);
    output[place].flags = atomicLoad(&broken);
  }
}
