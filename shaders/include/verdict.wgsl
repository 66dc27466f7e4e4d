// What both verification kernels share (kernels/verify/verdict.ts): a draft's nodes in workgroup memory, and the
// entries of the verdict on them. Needs `job`, `nodes`, `tokenRing`, `logits`, `verdict` and `uniforms.stride`.
#include "moves.wgsl"
#include "structs/choice.wgsl"
#include "structs/draft-node.wgsl"
#include "structs/verdict.wgsl"
#include "structs/verify-job.wgsl"

const MOST_NODES = 64u;
const UNKNOWN = 1.0; // more than any log-probability

var<workgroup> tokens: array<u32, MOST_NODES>;
var<workgroup> parents: array<u32, MOST_NODES>;
var<workgroup> drafted: array<f32, MOST_NODES>; // log-probabilities under the drafter
var<workgroup> path: array<u32, MOST_NODES>;
var<workgroup> length: u32;
var<workgroup> bonus: u32;
var<workgroup> broken: atomic<u32>;

// Takes over node i as the drafter left it.
fn take(i: u32, node: DraftNode) {
  tokens[i] = node.token;
  parents[i] = node.parent;
  drafted[i] = node.logprob;
  atomicOr(&broken, node.flags);
  if (node.ringEntry > 0) {
    let drawn = tokenRing[node.ringEntry - 1];
    tokens[i] = drawn.token;
    drafted[i] = drawn.logit - drawn.logSumExp;
    atomicOr(&broken, drawn.flags);
  }
}

// The logit of a token in the target's row after `node`.
fn logitOf(node: u32, token: u32) -> f32 { return logits[(job.row + node) * uniforms.stride + token]; }

// Writes node i, with its log-probabilities, into the verdict.
fn writeNode(i: u32) {
  let parent = parents[i];
  var scored = UNKNOWN;
  if (i > 0) { scored = logitOf(parent, tokens[i]) - tokenRing[job.draws + parent].logSumExp; }
  verdict.entries[i].token = tokens[i];
  verdict.entries[i].parent = parent;
  verdict.entries[i].drafted = drafted[i];
  verdict.entries[i].scored = scored;
}

// Writes the i-th kept node and the choice after it into the verdict.
fn writeKept(i: u32, choice: Choice) {
  verdict.entries[i].path = path[i];
  verdict.entries[i].choice = choice.token;
  verdict.entries[i].logit = choice.logit;
  verdict.entries[i].logSumExp = choice.logSumExp;
}
