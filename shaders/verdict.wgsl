// What both verification shaders read and write (kernels/verdict.ts): the nodes of a draft, and what became of them.
struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
struct Job { nodes: u32, draws: u32, base: u32, position: u32, seed: u32, law: u32 }
struct Move { source: u32, to: u32 }
// Entry i: node i of the draft, and the i-th kept node with the choice that follows it.
struct Entry { token: u32, parent: u32, path: u32, spare: u32, choice: Choice }
struct Verdict { length: u32, bonus: u32, broken: u32, spare: u32, entries: array<Entry> }

const MOST_NODES = 64u;
const END = 0xffffffffu; // of a list of moves

var<workgroup> tokens: array<u32, MOST_NODES>;
var<workgroup> parents: array<u32, MOST_NODES>;
var<workgroup> path: array<u32, MOST_NODES>;
var<workgroup> length: u32;
var<workgroup> bonus: u32;
var<workgroup> broken: atomic<u32>;
