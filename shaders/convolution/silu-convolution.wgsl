// The short convolution of a gated delta net: silu(conv(input)). A row of the input begins with the channels.
#include "../include/convolve.wgsl"

fn inputOf(row: u32, channel: u32) -> f32 { return input[row * stride(uniforms.width) + channel]; }

fn finish(row: u32, channel: u32, sum: f32) -> f32 { return sum / (1 + exp(-sum)); }
