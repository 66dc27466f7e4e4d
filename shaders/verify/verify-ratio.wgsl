// Verifies a chain of sampled drafts (Leviathan et al., 2023). Node i, drawn from q, is kept with probability min(1,
// p/q). The first that is not kept is replaced by a draw from the normalised max(0, p - q), or from p where that
// vanishes; after a chain that is kept whole comes the target's own draw. Acceptance and replacement have random
// numbers of their own, keyed by (seed, position), apart from those of the target's draws and of the drafts.
#include "../include/order.wgsl"
#include "../include/counter-random.wgsl"
#include "../include/reduce.wgsl"
#include "../include/verdict.wgsl"

struct Uniforms { vocabulary: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> job: VerifyJob;
@group(0) @binding(1) var<storage, read> nodes: array<DraftNode>;
@group(0) @binding(2) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read> targetDistributions: array<f32>;
@group(0) @binding(5) var<storage, read> draftDistributions: array<f32>;
@group(0) @binding(6) var<storage, read_write> verdict: Verdict;
@group(0) @binding(7) var<storage, read_write> moves: array<Move>;
@group(0) @binding(8) var<uniform> uniforms: Uniforms;

// p and q of a token at a node.
fn probability(node: u32, token: u32) -> f32 {
  return targetDistributions[(job.distribution + node - 1) * uniforms.stride + token];
}
fn draft(node: u32, token: u32) -> f32 {
  return draftDistributions[nodes[node].distribution * uniforms.stride + token];
}

// Leaves in bestToken[0] a draw from max(0, p - less * q) at this node.
fn replace(lane: u32, node: u32, less: f32) {
  var score = LOWEST;
  var token = uniforms.vocabulary;
  for (var i = lane; i < uniforms.vocabulary; i += threads) {
    let mass = probability(node, i) - less * draft(node, i);
    if (mass <= 0) { continue; }
    let own = log(mass) + gumbel(i, job.position + node, job.seed ^ REPLACEMENT);
    if (own > score) { score = own; token = i; }
  }
  reduceBest(lane, score, token);
}

@compute @workgroup_size(threads)
fn main(@builtin(local_invocation_index) lane: u32) {
  let considered = min(job.nodes, job.limit);
  for (var i = lane; i < job.nodes; i += threads) {
    take(i, nodes[i]);
    path[i] = i;
  }
  workgroupBarrier();
  if (lane == 0) {
    var kept = 1u;
    while (kept < considered) {
      let token = tokens[kept];
      if (chance(job.position + kept, job.seed) * draft(kept, token) >= probability(kept, token)) { break; }
      kept++;
    }
    length = kept;
  }
  let kept = workgroupUniformLoad(&length);
  if (kept < considered) {
    replace(lane, kept, 1);
    if (workgroupUniformLoad(&bestToken[0]) == uniforms.vocabulary) { replace(lane, kept, 0); }
  }
  for (var i = lane; i < job.nodes; i += threads) {
    writeNode(i);
    if (i < kept) {
      var choice = tokenRing[job.draws + i];
      atomicOr(&broken, choice.flags);
      if (i + 1 < considered) {
        choice.token = tokens[i + 1];
        if (i + 1 == kept) { choice.token = min(bestToken[0], uniforms.vocabulary - 1); }
        choice.logit = logitOf(i, choice.token);
      }
      writeKept(i, choice);
    }
  }
  workgroupBarrier();
  if (lane == 0) {
    verdict.length = kept;
    verdict.bonus = u32(kept == considered);
    verdict.broken = atomicLoad(&broken);
    verdict.limit = considered;
    moves[0] = Move(END, END); // a kept chain lies where it belongs
  }
}
