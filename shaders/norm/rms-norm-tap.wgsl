// What rms-norm.wgsl keeps of its input: a copy, for a drafter that reads its target's stream there.
@group(0) @binding(3) var<storage, read_write> tap: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

fn keep(cell: u32, value: vec4f) { tap[cell] = value; }
