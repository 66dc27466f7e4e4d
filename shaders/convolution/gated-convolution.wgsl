// The gated short convolution of LFM2. A row of the input is B, C and u: output = C · conv(B · u).
#include "../include/convolve.wgsl"

fn at(row: u32, part: u32, channel: u32) -> f32 {
  return input[row * stride(uniforms.width) + part * uniforms.channels + channel];
}

fn inputOf(row: u32, channel: u32) -> f32 { return at(row, 0, channel) * at(row, 2, channel); }

fn finish(row: u32, channel: u32, sum: f32) -> f32 { return at(row, 1, channel) * sum; }
