// Verifies deterministic drafts: the target's own draw at every node is what plain decoding would have drawn there, so
// from the anchor on the draft is followed for as long as some child is the token that was drawn. That keeps a draft x
// with probability p(x), the rule for one-hot drafts, goes through siblings as the rule for trees does, and makes a
// sampled run equal to plain decoding token for token. One workgroup; a lane a node, then one lane walks.
@group(0) @binding(0) var<storage, read> job: Job;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> board: array<Choice>;
@group(0) @binding(3) var<storage, read_write> verdict: Verdict;
@group(0) @binding(4) var<storage, read_write> moves: array<Move>;

var<workgroup> drawn: array<u32, MOST_NODES>;

@compute @workgroup_size(MOST_NODES)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane < job.nodes) {
    let node = nodes[lane];
    tokens[lane] = node.token;
    parents[lane] = node.parent;
    drawn[lane] = board[job.draws + lane].token;
    atomicOr(&broken, node.flags);
    if (node.held > 0) {
      let held = board[node.held - 1];
      tokens[lane] = held.token;
      atomicOr(&broken, held.flags);
    }
  }
  workgroupBarrier();
  if (lane == 0) {
    path[0] = 0;
    length = 1;
    bonus = 1;
    var node = 0u;
    for (var next = 1u; next < job.nodes; next++) { // a child comes after its parent
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
  if (lane == 0) {
    verdict.length = length;
    verdict.bonus = bonus;
    verdict.broken = atomicLoad(&broken);
  }
  if (lane < job.nodes) {
    verdict.entries[lane].token = tokens[lane];
    verdict.entries[lane].parent = parents[lane];
  }
  var step = Move(END, END);
  if (lane < length) {
    verdict.entries[lane].path = path[lane];
    verdict.entries[lane].choice = board[job.draws + path[lane]];
    step = Move(job.base + path[lane], job.base + lane);
  }
  moves[lane] = step;
}
