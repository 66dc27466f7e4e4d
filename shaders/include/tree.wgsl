// What the shaders that grow a tree of drafts share (kernels/tree/tree.ts). Level l has `width` candidates behind each node of
// the beam of level l - 1; the first level has the anchor alone to grow from.
struct Task {
  width: u32, levels: u32, nodes: u32, token: u32, ringEntry: u32, base: u32, position: u32, scored: u32, feature: u32,
}
// `parent`: a candidate, or ANCHOR. `row`: of the pass that scored it. `score`: log-probabilities added along the path.
struct Candidate { token: u32, parent: u32, row: u32, score: f32 }
// A candidate that is grown from, and what it sees of the beams before.
struct Beam { candidate: u32, maskLow: u32, maskHigh: u32, spare: u32 }

const ANCHOR = 0xffffffffu;
const LOWEST = -3.4028234e38;

// The index of a level's first candidate.
fn firstOf(level: u32, width: u32) -> u32 { return select(width + (level - 2) * width * width, 0, level == 1); }

// NaN would be neither better nor worse than anything.
fn ordered(score: f32) -> f32 { return select(score, LOWEST, (bitcast<u32>(score) & 0x7fffffff) > 0x7f800000); }
