// How many drafts of a block are verified, by their confidences, from left to right. It leaves the number of nodes, the
// anchor counted, where verification finds it, so the host need not know it. One lane: a block has at most 16 drafts.
#include "../include/structs/draft-limit.wgsl"

const EACH = 0u;
const SCHEDULE = 2u;

struct Uniforms { stride: u32 }

@group(0) @binding(0) var<storage, read> job: DraftLimit;
@group(0) @binding(1) var<storage, read> confidence: array<f32>; // logits
@group(0) @binding(2) var<storage, read_write> limit: array<u32>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(1)
fn main() {
  var kept = job.count;
  var survival = 1.0;
  var expected = 1.0;
  var rate = 1.0 / job.costs[0];
  for (var n = 0u; n < job.count; n++) {
    let logit = confidence[(job.first + n) * uniforms.stride] / job.divisors[n];
    let own = 1.0 / (1.0 + exp(-logit));
    survival *= own;
    if (job.rule == SCHEDULE) {
      expected += survival;
      let next = expected / job.costs[n + 1];
      if (next <= rate) { kept = n; break; }
      rate = next;
    } else if (select(survival, own, job.rule == EACH) < job.threshold) { kept = n; break; }
  }
  limit[0] = kept + 1;
}
