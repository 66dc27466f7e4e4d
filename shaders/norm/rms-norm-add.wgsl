// RMS norm of whole rows, added to the residual stream: the norm after a block.
#include "../include/normalize-rows.wgsl"

struct Uniforms { rows: u32, width: u32, epsilon: f32, scale: f32 }

@group(0) @binding(3) var<uniform> uniforms: Uniforms;

fn give(cell: u32, x: vec4f, y: vec4f) { output[cell] = fma(y, vec4f(uniforms.scale), output[cell]); }
