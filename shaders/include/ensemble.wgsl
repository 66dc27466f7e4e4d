// The job of an ensemble's kernels (kernels/ensemble/ensemble-structs.ts), and how it is read. What these kernels make
// of a row of logits are its softmax statistics. The distributions of a chain's members are never written out: of most
// rows only one draft's probability is needed.
#include "structs/ensemble-job.wgsl"
#include "structs/softmax-statistics.wgsl"
#include "structs/choice.wgsl"
#include "structs/chain-end.wgsl"

struct Uniforms { positions: u32, members: u32, distributions: u32, vocabulary: u32, stride: u32, slices: u32 }

@group(0) @binding(0) var<storage, read> job: EnsembleJob;

fn entry(position: u32, field: u32) -> u32 { return job.entries[position * (3 + uniforms.distributions) + field]; }

// The last distribution of a contrast is that of the row which drafted: its temperature differs.
fn temperatureOf(distribution: u32) -> f32 {
  return select(job.temperature, job.drafting, distribution == uniforms.members + 1);
}

// Where the logits of a distribution begin.
fn startOf(position: u32, distribution: u32) -> u32 { return entry(position, 3 + distribution) * uniforms.stride; }
