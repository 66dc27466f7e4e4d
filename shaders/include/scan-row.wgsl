// What a workgroup finds out about the row of `logits` from `start` on: its largest logits, whether it is broken, the
// sum of its exponentials. Lane l reads every threads-th logit from l on, four at a time, because a lane that waits for
// each would take most of its time for that. Needs `logits` and `uniforms.vocabulary`.
#include "order.wgsl"
#include "reduce.wgsl"

// Not 0: some logit that was scanned is NaN or +infinity, which no logit is.
var<workgroup> broken: atomic<u32>;

// By bits: a compiler may take a comparison with NaN for impossible.
fn check(logit: f32) {
  let bits = bitcast<u32>(logit);
  if ((bits & 0x7fffffff) > 0x7f800000 || bits == 0x7f800000) { atomicOr(&broken, 1); }
}

// Four logits of a lane, from its logit `i` on.
fn four(i: u32) -> vec4f {
  return vec4f(logits[i], logits[i + threads], logits[i + 2 * threads], logits[i + 3 * threads]);
}

struct Best { score: f32, token: u32 }

fn better(best: Best, logit: f32, token: u32) -> Best {
  check(logit);
  if (logit > best.score) { return Best(logit, token); }
  return best;
}

// Leaves the largest logit in bestScore[0] and its token in bestToken[0]; LOWEST and `vocabulary` where none is larger
// than LOWEST.
fn scanBest(lane: u32, start: u32) {
  var best = Best(LOWEST, uniforms.vocabulary);
  var i = lane;
  for (; i + 3 * threads < uniforms.vocabulary; i += 4 * threads) {
    let each = four(start + i);
    best = better(best, each.x, i);
    best = better(best, each.y, i + threads);
    best = better(best, each.z, i + 2 * threads);
    best = better(best, each.w, i + 3 * threads);
  }
  for (; i < uniforms.vocabulary; i += threads) { best = better(best, logits[start + i], i); }
  reduceBest(lane, best.score, best.token);
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
  var i = lane;
  for (; i + 3 * threads < uniforms.vocabulary; i += 4 * threads) {
    let each = exp(four(start + i) - top);
    sum = (((sum + each.x) + each.y) + each.z) + each.w;
  }
  for (; i < uniforms.vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  reduceSum(lane, sum);
}
