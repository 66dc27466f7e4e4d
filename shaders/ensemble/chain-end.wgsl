// Where a chain of sampled drafts ends, and the best token there: the bonus, or what replaces the refused draft. In a
// greedy run the best token of r at every position. A workgroup looks through one slice of the vocabulary at one
// position.
#include "../include/combined-distribution.wgsl"
#include "../include/drafted-token.wgsl"

@group(0) @binding(3) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(4) var<storage, read_write> chainEnd: ChainEnd;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

var<workgroup> refused: atomic<u32>;
var<workgroup> kept: u32;

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let position = group.y;
  if (job.greedy == 0) {
    if (lane == 0) { atomicStore(&refused, job.drafts); }
    workgroupBarrier();
    for (var i = lane; i < job.drafts; i += threads) {
      let token = draftAt(i);
      let q = probability(i, entry(i, 2), token);
      if (chance(job.position + i, job.seed) * q >= combined(i, token)) { atomicMin(&refused, i); }
    }
    workgroupBarrier();
    if (lane == 0) { kept = atomicLoad(&refused); }
    let end = workgroupUniformLoad(&kept);
    // All workgroups find the same end. The verdict reads it from here, because another pipeline may round differently.
    if (lane == 0 && group.x == 0 && position == 0) { chainEnd.kept = end; }
    if (position != end) { return; }
  } else if (job.shares[uniforms.members] == 1) {
    // r is the distribution of one row, and its statistics have the best token.
    if (lane == 0) {
      let best = SliceBest(0, statistics[position * uniforms.distributions + uniforms.members].best);
      chainEnd.slices[position * uniforms.slices + group.x] = best;
    }
    return;
  }
  let width = (uniforms.vocabulary + uniforms.slices - 1) / uniforms.slices;
  let first = group.x * width;
  let end = min(first + width, uniforms.vocabulary);
  let corrects = job.greedy == 0 && position < job.drafts;
  search(lane, position, first, end, select(0.0, 1.0, corrects), job.seed ^ select(0, REPLACEMENT, corrects));
  if (lane == 0) {
    chainEnd.slices[position * uniforms.slices + group.x] = SliceBest(bestScore[0], bestToken[0]);
  }
}
