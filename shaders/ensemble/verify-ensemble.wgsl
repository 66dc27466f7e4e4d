// The verdict on a chain of drafts under r, from what chain-end.wgsl found: the drafts that stay, the token after them
// and, for every committed token, the votes: its probability under r, and each member's own choice.
#include "../include/combined-distribution.wgsl"
#include "../include/drafted-token.wgsl"
#include "../include/structs/ensemble-verdict.wgsl"

@group(0) @binding(3) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(4) var<storage, read> chainEnd: ChainEnd;
@group(0) @binding(5) var<storage, read_write> verdict: EnsembleVerdict;
@group(0) @binding(6) var<uniform> uniforms: Uniforms;

const MOST = 64u; // positions

var<workgroup> ends: array<u32, MOST>; // the best token of each position
var<workgroup> committed: array<u32, MOST>;
var<workgroup> broken: atomic<u32>;
var<workgroup> kept: u32;

// The best token of all slices.
fn bestOf(position: u32) -> u32 {
  var best = SliceBest(LOWEST, uniforms.vocabulary);
  for (var i = 0u; i < uniforms.slices; i++) {
    let other = chainEnd.slices[position * uniforms.slices + i];
    if (other.score > best.score) { best = other; } // slices are in the order of tokens: the lowest wins ties
  }
  return best.token;
}

@compute @workgroup_size(threads)
fn main(@builtin(local_invocation_index) lane: u32) {
  let width = 3 + 3 * uniforms.members;
  for (var i = lane; i < uniforms.positions * uniforms.distributions; i += threads) {
    atomicOr(&broken, statistics[i].broken);
  }
  for (var i = lane; i < job.drafts; i += threads) {
    verdict.words[i * width] = draftAt(i);
    if (entry(i, 1) > 0) { atomicOr(&broken, tokenRing[entry(i, 1) - 1].flags); }
  }
  for (var i = lane; i < job.pending; i += threads) {
    let waiting = tokenRing[job.entries[uniforms.positions * (3 + uniforms.distributions) + i] - 1];
    verdict.words[uniforms.positions * width + i] = waiting.token;
    atomicOr(&broken, waiting.flags);
  }
  if (job.greedy > 0) {
    for (var i = lane; i < uniforms.positions; i += threads) { ends[i] = bestOf(i); }
  }
  workgroupBarrier();
  if (lane == 0) {
    kept = chainEnd.kept;
    if (job.greedy > 0) {
      kept = 0;
      while (kept < job.drafts && draftAt(kept) == ends[kept]) { kept++; }
    } else if (kept < uniforms.positions) {
      ends[kept] = bestOf(kept);
    }
  }
  let last = workgroupUniformLoad(&kept);
  let more = last < uniforms.positions;
  if (more && workgroupUniformLoad(&ends[last]) == uniforms.vocabulary) {
    // r exceeds q nowhere: the draw is from r itself.
    search(lane, last, 0, uniforms.vocabulary, 0, job.seed ^ REPLACEMENT);
    if (lane == 0) { ends[last] = min(bestToken[0], uniforms.vocabulary - 1); }
  }
  let count = last + u32(more);
  workgroupBarrier();
  for (var i = lane; i < count; i += threads) {
    if (i < last) { committed[i] = draftAt(i); } else { committed[i] = ends[last]; }
    verdict.words[i * width + 1] = committed[i];
    verdict.words[i * width + 2] = bitcast<u32>(combined(i, committed[i]));
  }
  workgroupBarrier();
  for (var i = lane; i < count * uniforms.members; i += threads) {
    let position = i / uniforms.members;
    let member = i % uniforms.members;
    let best = statistics[position * uniforms.distributions + member].best;
    let at = position * width + 3 + 3 * member;
    verdict.words[at] = best;
    verdict.words[at + 1] = bitcast<u32>(probability(position, member, best));
    verdict.words[at + 2] = bitcast<u32>(probability(position, member, committed[position]));
  }
  if (lane == 0) {
    verdict.kept = last;
    verdict.count = count;
    verdict.broken = atomicLoad(&broken);
  }
}
