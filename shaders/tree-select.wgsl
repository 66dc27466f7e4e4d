// The best nodes of all candidates, as the draft that is verified: in the order in which the candidates were made, so
// that a parent, which is never less probable than its child, precedes it. One workgroup.
struct Node { token: u32, held: u32, parent: u32, law: u32, flags: u32 }

@group(0) @binding(0) var<storage, read> task: Task;
@group(0) @binding(1) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(2) var<storage, read_write> nodes: array<Node>;

const MOST = 1040u; // 16 behind each of 65 nodes
const LANES = 64u;

var<workgroup> scores: array<f32, MOST>;
var<workgroup> kept: array<u32, MOST>; // 1 where a candidate is kept

fn nodeOf(candidate: u32) -> u32 {
  var node = 1u;
  for (var i = 0u; i < candidate; i++) { node += kept[i]; }
  return node;
}

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32) {
  let count = firstOf(task.levels + 1, task.width);
  for (var i = lane; i < count; i += LANES) { scores[i] = ordered(candidates[i].score); }
  workgroupBarrier();
  for (var i = lane; i < count; i += LANES) {
    let own = scores[i];
    var better = 0u;
    for (var j = 0u; j < count; j++) { better += u32(scores[j] > own || (scores[j] == own && j < i)); }
    kept[i] = u32(better + 1 < task.nodes);
  }
  workgroupBarrier();
  for (var i = lane; i < count; i += LANES) {
    if (kept[i] == 0) { continue; }
    let candidate = candidates[i];
    var node = Node(candidate.token, 0, 0, 0, u32(scores[i] == LOWEST));
    if (candidate.parent != ANCHOR) { node.parent = nodeOf(candidate.parent); }
    nodes[nodeOf(i)] = node;
  }
  if (lane == 0) { nodes[0] = Node(task.token, task.held, ANCHOR, 0, 0); }
}
