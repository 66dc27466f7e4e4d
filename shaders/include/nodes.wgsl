// The nodes of a draft (kernels/verify/verdict.ts), and where they lie behind a cursor (kernels/tree/tree-rows.ts).
// `logprob`: what the drafter gave it, where a kernel made the node; a held token's is on the token ring.
struct Node { token: u32, ringEntry: u32, parent: u32, distribution: u32, logprob: f32, flags: u32 }
struct Place { first: u32, count: u32, prefix: u32, start: u32, base: u32, position: u32, window: u32 }
