// RMS norm of whole rows.
#include "../include/normalize-rows.wgsl"

struct Uniforms { rows: u32, width: u32, epsilon: f32 }

@group(0) @binding(3) var<uniform> uniforms: Uniforms;

fn give(cell: u32, x: vec4f, y: vec4f) { output[cell] = y; }
