// The question that an ensemble's kernels answer together (kernels/ensemble/ensemble.ts), and what they make of a row of logits:
// its softmaxStatistics, a few numbers with which the probability of any token is an exponential and a product. The distributions of a chain's
// members are never written out: of most rows only a draft's own probability is ever looked at.
struct Uniforms { positions: u32, members: u32, columns: u32, vocabulary: u32, stride: u32, slices: u32 }
struct Job {
  drafts: u32, pending: u32, position: u32, seed: u32, greedy: u32,
  temperature: f32, topK: u32, topP: f32, minP: f32, mu: f32, drafting: f32,
  // Of r, by column: members by identity; where they are contrasted the row that does so, and the row that drafted.
  shares: array<f32, 10>,
  // By position: the draft's token, its place on the token ring + 1 (0: it is the token given), the column of the distribution that it
  // was drawn from, and the row of each column; then the places of the tokens besides.
  entries: array<u32>,
}
struct SoftmaxStatistics { top: f32, sum: f32, lowest: u32, best: u32, broken: u32 }
struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
// What `elect` leaves: how many drafts stay (sampled runs only), and the best token of every slice of every position.
struct Candidate { score: f32, token: u32 }
struct Election { kept: u32, spare: u32, candidates: array<Candidate> }

@group(0) @binding(0) var<storage, read> job: Job;

fn entry(position: u32, field: u32) -> u32 { return job.entries[position * (3 + uniforms.columns) + field]; }
// A row that drafted stands in a column of its own for the sake of its temperature.
fn temperatureOf(column: u32) -> f32 { return select(job.temperature, job.drafting, column == uniforms.members + 1); }
fn startOf(position: u32, column: u32) -> u32 { return entry(position, 3 + column) * uniforms.stride; }
