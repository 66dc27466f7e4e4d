// The verdict on a chain of drafts under r, from what `elect` found: which drafts stay, the token behind them, and for
// people the votes: r, and each member's own choice, for every token that is committed.
#include "../include/combined-distribution.wgsl"

@group(0) @binding(3) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(4) var<storage, read> election: Election;
@group(0) @binding(5) var<storage, read_write> verdict: array<u32>; // kernels/ensemble/ensemble.ts
@group(0) @binding(6) var<uniform> uniforms: Uniforms;

const MOST = 64u;

var<workgroup> elected: array<u32, MOST>;
var<workgroup> committed: array<u32, MOST>;
var<workgroup> broken: atomic<u32>;
var<workgroup> kept: u32;

fn draftAt(position: u32) -> u32 {
  let ringEntry = entry(position, 1);
  if (ringEntry > 0) { return tokenRing[ringEntry - 1].token; }
  return entry(position, 0);
}

// The best candidate of all slices.
fn bestOf(position: u32) -> u32 {
  var best = Candidate(LOWEST, uniforms.vocabulary);
  for (var i = 0u; i < uniforms.slices; i++) {
    let other = election.candidates[position * uniforms.slices + i];
    if (other.score > best.score) { best = other; } // slices are in the order of tokens: the lowest wins ties
  }
  return best.token;
}

@compute @workgroup_size(threads)
fn main(@builtin(local_invocation_index) lane: u32) {
  let width = 3 + 3 * uniforms.members;
  for (var i = lane; i < uniforms.positions * uniforms.columns; i += threads) { atomicOr(&broken, statistics[i].broken); }
  for (var i = lane; i < job.drafts; i += threads) {
    verdict[4 + i * width] = draftAt(i);
    if (entry(i, 1) > 0) { atomicOr(&broken, tokenRing[entry(i, 1) - 1].flags); }
  }
  for (var i = lane; i < job.pending; i += threads) {
    let waiting = tokenRing[job.entries[uniforms.positions * (3 + uniforms.columns) + i] - 1];
    verdict[4 + uniforms.positions * width + i] = waiting.token;
    atomicOr(&broken, waiting.flags);
  }
  if (job.greedy > 0) {
    for (var i = lane; i < uniforms.positions; i += threads) { elected[i] = bestOf(i); }
  }
  workgroupBarrier();
  if (lane == 0) {
    kept = election.kept;
    if (job.greedy > 0) {
      kept = 0;
      while (kept < job.drafts && draftAt(kept) == elected[kept]) { kept++; }
    } else if (kept < uniforms.positions) {
      elected[kept] = bestOf(kept);
    }
  }
  let last = workgroupUniformLoad(&kept);
  let more = last < uniforms.positions;
  if (more && workgroupUniformLoad(&elected[last]) == uniforms.vocabulary) {
    // r exceeds q nowhere: from r itself.
    search(lane, last, 0, uniforms.vocabulary, 0, job.seed ^ REPLACEMENT);
    if (lane == 0) { elected[last] = min(bestToken[0], uniforms.vocabulary - 1); }
  }
  let count = last + u32(more);
  workgroupBarrier();
  for (var i = lane; i < count; i += threads) {
    if (i < last) { committed[i] = draftAt(i); } else { committed[i] = elected[last]; }
    verdict[4 + i * width + 1] = committed[i];
    verdict[4 + i * width + 2] = bitcast<u32>(combined(i, committed[i]));
  }
  workgroupBarrier();
  for (var i = lane; i < count * uniforms.members; i += threads) {
    let position = i / uniforms.members;
    let member = i % uniforms.members;
    let best = statistics[position * uniforms.columns + member].best;
    let at = 4 + position * width + 3 + 3 * member;
    verdict[at] = best;
    verdict[at + 1] = bitcast<u32>(probability(position, member, best));
    verdict[at + 2] = bitcast<u32>(probability(position, member, committed[position]));
  }
  if (lane == 0) {
    verdict[0] = last;
    verdict[1] = count;
    verdict[2] = atomicLoad(&broken);
  }
}
