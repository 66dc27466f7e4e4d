// The `width` most probable tokens behind each node of a beam, as candidates with the log-probability of their path.
// A workgroup a row; it takes the maximum `width` times, each time of what comes after the one before it.
#include "../include/tree.wgsl"

override threads: u32 = 256;

struct Uniforms { level: u32, rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> task: Task;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read> beam: array<Beam>;
@group(0) @binding(4) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

const MOST_WIDTH = 16u;

var<workgroup> bestLogit: array<f32, threads>;
var<workgroup> bestToken: array<u32, threads>;
var<workgroup> sums: array<f32, threads>;
var<workgroup> topLogits: array<f32, MOST_WIDTH>;
var<workgroup> topTokens: array<u32, MOST_WIDTH>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let root = uniforms.level == 1;
  let width = task.width;
  if (group.x >= select(width, 1, root)) { return; }
  let start = select(group.x, task.scored, root) * uniforms.stride;
  var last = 0.0;
  var lastToken = 0u;
  for (var place = 0u; place < width; place++) {
    var logit = LOWEST;
    var token = uniforms.vocabulary;
    for (var i = lane; i < uniforms.vocabulary; i += threads) {
      let x = ordered(logits[start + i]);
      let later = place == 0 || x < last || (x == last && i > lastToken);
      if (later && (x > logit || token == uniforms.vocabulary)) { logit = x; token = i; }
    }
    bestLogit[lane] = logit;
    bestToken[lane] = token;
    workgroupBarrier();
    for (var half = threads / 2; half > 0; half /= 2) {
      if (lane < half) {
        let x = bestLogit[lane + half];
        let i = bestToken[lane + half];
        if (x > bestLogit[lane] || (x == bestLogit[lane] && i < bestToken[lane])) {
          bestLogit[lane] = x;
          bestToken[lane] = i;
        }
      }
      workgroupBarrier();
    }
    last = bestLogit[0];
    lastToken = bestToken[0];
    if (lane == 0) {
      topLogits[place] = last;
      topTokens[place] = lastToken;
    }
    workgroupBarrier();
  }

  let top = topLogits[0];
  var sum = 0.0;
  for (var i = lane; i < uniforms.vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  sums[lane] = sum;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { sums[lane] += sums[lane + half]; }
    workgroupBarrier();
  }

  let first = firstOf(uniforms.level, width) + select(group.x, 0, root) * width;
  let grown = beam[group.x].candidate;
  for (var place = lane; place < width; place += threads) {
    var candidate = Candidate(0, ANCHOR, task.feature, topLogits[place] - top - log(sums[0]));
    candidate.token = ids[min(topTokens[place], uniforms.vocabulary - 1)];
    if (!root) {
      candidate.parent = grown;
      candidate.row = group.x;
      candidate.score += candidates[grown].score;
    }
    candidates[first + place] = candidate;
  }
}
