// Verifies deterministic drafts. The target's own draw at every node is what plain decoding would have drawn there, so
// the draft is followed from the anchor on for as long as some child is the token that was drawn. That keeps a draft x
// with probability p(x), the rule for one-hot drafts, goes through siblings as the rule for trees does, and makes a
// sampled run equal to plain decoding token for token. One workgroup; a lane is a node, then one lane walks.
#include "../include/verdict.wgsl"

struct Uniforms { stride: u32 }

@group(0) @binding(0) var<storage, read> job: VerifyJob;
@group(0) @binding(1) var<storage, read> nodes: array<DraftNode>;
@group(0) @binding(2) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read_write> verdict: Verdict;
@group(0) @binding(5) var<storage, read_write> moves: array<Move>;
@group(0) @binding(6) var<uniform> uniforms: Uniforms;

var<workgroup> drawn: array<u32, MOST_NODES>;

@compute @workgroup_size(MOST_NODES)
fn main(@builtin(local_invocation_index) lane: u32) {
  let considered = min(job.nodes, job.limit);
  if (lane < job.nodes) {
    take(lane, nodes[lane]);
    drawn[lane] = tokenRing[job.draws + lane].token;
  }
  workgroupBarrier();
  if (lane == 0) {
    path[0] = 0;
    length = 1;
    bonus = 1;
    var node = 0u;
    for (var next = 1u; next < considered; next++) { // a child comes after its parent
      if (parents[next] != node) { continue; }
      bonus = 0;
      if (tokens[next] != drawn[node]) { continue; }
      node = next;
      path[length] = next;
      length++;
      bonus = 1;
    }
  }
  workgroupBarrier();
  if (lane < job.nodes) { writeNode(lane); }
  var step = Move(END, END);
  if (lane < length) {
    let choice = tokenRing[job.draws + path[lane]];
    writeKept(lane, choice);
    atomicOr(&broken, choice.flags);
    step = Move(job.base + path[lane], job.base + lane);
  }
  moves[lane] = step;
  workgroupBarrier();
  if (lane == 0) {
    verdict.length = length;
    verdict.bonus = bonus;
    verdict.broken = atomicLoad(&broken);
    verdict.limit = considered;
  }
}
