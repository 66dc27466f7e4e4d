// What a workgroup finds out about the row of `logits` from `start` on: its largest logits, whether it is broken, the
// sum of its exponentials. Lane l reads every threads-th logit from l on. Needs `logits` and `uniforms.vocabulary`.
#include "order.wgsl"
#include "reduce.wgsl"

// Not 0: some logit that was scanned is NaN or +infinity, which no logit is.
var<workgroup> broken: atomic<u32>;

// By bits: a compiler may take a comparison with NaN for impossible.
fn check(logit: f32) {
  let bits = bitcast<u32>(logit);
  if ((bits & 0x7fffffff) > 0x7f800000 || bits == 0x7f800000) { atomicOr(&broken, 1); }
}

// Leaves the largest logit in bestScore[0] and its token in bestToken[0]; LOWEST and `vocabulary` where none is larger
// than LOWEST.
fn scanBest(lane: u32, start: u32) {
  var score = LOWEST;
  var token = uniforms.vocabulary;
  for (var i = lane; i < uniforms.vocabulary; i += threads) {
    let logit = logits[start + i];
    check(logit);
    if (logit > score) { score = logit; token = i; }
  }
  reduceBest(lane, score, token);
}

// Leaves the next largest logit after bestScore[0], bestToken[0] in their place, the lower token first among equals;
// NaN comes last. `first`: whether this is the search for the largest.
fn scanNext(lane: u32, start: u32, first: bool) {
  let last = bestScore[0];
  let lastToken = bestToken[0];
  workgroupBarrier(); // all lanes have read them
  var score = LOWEST;
  var token = uniforms.vocabulary;
  for (var i = lane; i < uniforms.vocabulary; i += threads) {
    let logit = ordered(logits[start + i]);
    let later = first || logit < last || (logit == last && i > lastToken);
    if (later && (logit > score || token == uniforms.vocabulary)) { score = logit; token = i; }
  }
  reduceBest(lane, score, token);
}

// Leaves the sum of exp(logit - top) in sums[0].
fn sumExponentials(lane: u32, start: u32, top: f32) {
  var sum = 0.0;
  for (var i = lane; i < uniforms.vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  reduceSum(lane, sum);
}
