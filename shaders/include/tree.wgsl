// What the kernels that grow a tree of drafts share (kernels/tree/grow-tree.ts). Level l has `width` candidates after
// each node of the beam of level l - 1; the first level grows from the anchor alone.
#include "order.wgsl"
#include "structs/tree-task.wgsl"
#include "structs/tree-candidate.wgsl"
#include "structs/beam-node.wgsl"

const ANCHOR = 0xffffffffu;

// The index of a level's first candidate.
fn firstOf(level: u32, width: u32) -> u32 { return select(width + (level - 2) * width * width, 0, level == 1); }
