// The nodes of a draft (kernels/verdict.ts), and where they lie behind a cursor (kernels/tree-rows.ts).
struct Node { token: u32, held: u32, parent: u32, law: u32, flags: u32 }
struct Place { first: u32, count: u32, prefix: u32, start: u32, base: u32, position: u32, window: u32 }
