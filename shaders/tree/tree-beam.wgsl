// The best `width` candidates of a level become the beam, best first, the lower index first among equals: the rows of
// the drafter's next pass, and where each finds the feature it goes on from. One workgroup; the place of a candidate is
// the number of those that beat it.
#include "../include/structs/row.wgsl"
#include "../include/tree.wgsl"

struct Uniforms { level: u32, rows: u32 }

@group(0) @binding(0) var<storage, read> task: TreeTask;
@group(0) @binding(1) var<storage, read> candidates: array<TreeCandidate>;
@group(0) @binding(2) var<storage, read_write> beam: array<BeamNode>;
@group(0) @binding(3) var<storage, read_write> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> sources: array<u32>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

var<workgroup> scores: array<f32, 256>;
var<workgroup> chosen: array<u32, 16>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  let width = task.width;
  let first = firstOf(uniforms.level, width);
  let count = select(width * width, width, uniforms.level == 1);
  for (var i = lane; i < count; i += 64) { scores[i] = ordered(candidates[first + i].score); }
  workgroupBarrier();
  for (var i = lane; i < count; i += 64) {
    let own = scores[i];
    var place = 0u;
    for (var j = 0u; j < count; j++) { place += u32(scores[j] > own || (scores[j] == own && j < i)); }
    if (place < width) { chosen[place] = first + i; }
  }
  workgroupBarrier();

  var row = Row();
  var own = BeamNode();
  if (lane < width) {
    let candidate = candidates[chosen[lane]];
    let bit = (uniforms.level - 1) * width + lane;
    own = BeamNode(chosen[lane], 0, 0, 0);
    if (uniforms.level > 1) {
      own.maskLow = beam[candidate.row].maskLow;
      own.maskHigh = beam[candidate.row].maskHigh;
    }
    if (bit < 32) { own.maskLow |= 1u << bit; } else { own.maskHigh |= 1u << (bit - 32); }
    row.token = candidate.token;
    row.position = task.position + uniforms.level - 1;
    row.slot = task.base + bit;
    row.prefix = task.base;
    row.base = task.base;
    // A window of 0 positions is none.
    let lowest = select(row.position + 1 - min(task.window, row.position + 1), 0, task.window == 0);
    row.first = min(lowest, task.base);
    let passed = (max(lowest, task.position) - task.position) * width; // rows of beams that the window has passed
    row.maskLow = own.maskLow & ~extractBits(0xffffffffu, 0, min(passed, 32));
    row.maskHigh = own.maskHigh & ~extractBits(0xffffffffu, 0, max(passed, 32) - 32);
    row.alive = 1;
    row.sources = 0xffffffffu; // every row, as rows.ts packs it
    sources[lane] = candidate.row;
  }
  storageBarrier(); // the beam before has been read
  if (lane < width) { beam[lane] = own; }
  if (lane < uniforms.rows) { rows[lane] = row; }
}
