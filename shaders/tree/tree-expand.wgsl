// The `width` most probable tokens after each node of a beam, as candidates with the log-probability of their path. A
// workgroup is a row; it takes the maximum `width` times, each time of what comes after the one before it.
#include "../include/scan-row.wgsl"
#include "../include/tree.wgsl"

struct Uniforms { level: u32, rows: u32, vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> task: TreeTask;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read> beam: array<BeamNode>;
@group(0) @binding(4) var<storage, read_write> candidates: array<TreeCandidate>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

const MOST_WIDTH = 16u;

var<workgroup> topLogits: array<f32, MOST_WIDTH>;
var<workgroup> topTokens: array<u32, MOST_WIDTH>;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let root = uniforms.level == 1;
  let width = task.width;
  if (group.x >= select(width, 1, root)) { return; }
  let start = select(group.x, task.scored, root) * uniforms.stride;
  for (var place = 0u; place < width; place++) {
    scanNext(lane, start, place == 0);
    if (lane == 0) {
      topLogits[place] = bestScore[0];
      topTokens[place] = bestToken[0];
    }
  }
  workgroupBarrier();
  let top = topLogits[0];
  sumExponentials(lane, start, top);

  let first = firstOf(uniforms.level, width) + select(group.x, 0, root) * width;
  let grown = beam[group.x].candidate;
  for (var place = lane; place < width; place += threads) {
    var candidate = TreeCandidate(0, ANCHOR, task.feature, topLogits[place] - top - log(sums[0]));
    candidate.token = ids[min(topTokens[place], uniforms.vocabulary - 1)];
    if (!root) {
      candidate.parent = grown;
      candidate.row = group.x;
      candidate.score += candidates[grown].score;
    }
    candidates[first + place] = candidate;
  }
}
