// The best nodes of all candidates, as the draft that is verified: in the order in which the candidates were made, so
// that a parent, which is never less probable than its child, precedes it. One workgroup finds the least score that is
// kept a bit at a time, by counting; one lane then numbers the candidates, the lower index first among equals.
#include "../include/structs/draft-node.wgsl"
#include "../include/tree.wgsl"

@group(0) @binding(0) var<storage, read> task: TreeTask;
@group(0) @binding(1) var<storage, read> candidates: array<TreeCandidate>;
@group(0) @binding(2) var<storage, read_write> nodes: array<DraftNode>;

const MOST = 1040u; // 16 after each of 65 nodes
const LANES = 64u;

var<workgroup> keys: array<u32, MOST>;
var<workgroup> numbers: array<u32, MOST>; // of the node that a candidate becomes; 0 = none
var<workgroup> count: atomic<u32>;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32) {
  let total = firstOf(task.levels + 1, task.width);
  let wanted = task.nodes - 1;
  for (var i = lane; i < total; i += LANES) { keys[i] = keyOf(ordered(candidates[i].score)); }

  var least = 0u;
  for (var bit = 0x80000000u; bit > 0; bit >>= 1) {
    if (lane == 0) { atomicStore(&count, 0); }
    workgroupBarrier();
    var own = 0u;
    for (var i = lane; i < total; i += LANES) { own += u32(keys[i] >= (least | bit)); }
    atomicAdd(&count, own);
    workgroupBarrier();
    if (atomicLoad(&count) >= wanted) { least |= bit; }
    workgroupBarrier();
  }

  if (lane == 0) {
    var above = 0u;
    for (var i = 0u; i < total; i++) { above += u32(keys[i] > least); }
    var equal = wanted - above; // so many of those that are no better than the least
    var next = 1u;
    for (var i = 0u; i < total; i++) {
      let taken = keys[i] > least || (keys[i] == least && equal > 0);
      numbers[i] = select(0, next, taken);
      next += u32(taken);
      equal -= u32(taken && keys[i] == least);
    }
    nodes[0] = DraftNode(task.token, task.ringEntry, ANCHOR, 0, 0, 0);
  }
  workgroupBarrier();
  for (var i = lane; i < total; i += LANES) {
    if (numbers[i] == 0) { continue; }
    let candidate = candidates[i];
    var node = DraftNode(candidate.token, 0, 0, 0, candidate.score, u32(keys[i] == keyOf(LOWEST)));
    if (candidate.parent != ANCHOR) {
      node.parent = numbers[candidate.parent];
      node.logprob -= candidates[candidate.parent].score;
    }
    nodes[numbers[i]] = node;
  }
}
