// RMS norm of whole rows, with a copy of the input for a drafter that reads its target's stream there.
#include "../include/normalize-rows.wgsl"

@group(0) @binding(3) var<storage, read_write> tap: array<vec4f>;
@group(0) @binding(4) var<uniform> uniforms: Uniforms;

fn keep(cell: u32, value: vec4f) { tap[cell] = value; }
