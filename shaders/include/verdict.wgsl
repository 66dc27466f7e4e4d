// What both verification shaders read and write (kernels/verify/verdict.ts): the nodes of a draft, and what became of them.
#include "nodes.wgsl"

struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
struct Job { nodes: u32, draws: u32, base: u32, position: u32, seed: u32, row: u32, distribution: u32 }
struct Move { source: u32, to: u32 }
// Entry i: node i of the draft, with its log-probabilities under its drafter and under the target; and the i-th kept
// node, with the choice that follows it.
struct Entry {
  token: u32, parent: u32, drafted: f32, scored: f32, path: u32, choice: u32, logit: f32, logSumExp: f32,
}
struct Verdict { length: u32, bonus: u32, broken: u32, spare: u32, entries: array<Entry> }

const MOST_NODES = 64u;
const END = 0xffffffffu; // of a list of moves
const UNKNOWN = 1.0; // which no log-probability is

var<workgroup> tokens: array<u32, MOST_NODES>;
var<workgroup> parents: array<u32, MOST_NODES>;
var<workgroup> drafted: array<f32, MOST_NODES>; // log-probabilities under the drafter
var<workgroup> path: array<u32, MOST_NODES>;
var<workgroup> length: u32;
var<workgroup> bonus: u32;
var<workgroup> broken: atomic<u32>;

// Node i as the drafter left it.
fn take(i: u32, node: Node) {
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

// What the target's row behind `node` gives a token.
fn logitOf(node: u32, token: u32) -> f32 { return logits[(job.row + node) * uniforms.stride + token]; }

fn tell(i: u32) {
  let parent = parents[i];
  var scored = UNKNOWN;
  if (i > 0) { scored = logitOf(parent, tokens[i]) - tokenRing[job.draws + parent].logSumExp; }
  verdict.entries[i].token = tokens[i];
  verdict.entries[i].parent = parent;
  verdict.entries[i].drafted = drafted[i];
  verdict.entries[i].scored = scored;
}

// The i-th kept node, and the choice behind it.
fn keep(i: u32, choice: Choice) {
  verdict.entries[i].path = path[i];
  verdict.entries[i].choice = choice.token;
  verdict.entries[i].logit = choice.logit;
  verdict.entries[i].logSumExp = choice.logSumExp;
}
