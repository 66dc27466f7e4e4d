// Token embeddings gathered out of the matmul layout (groups of 32 columns interleaved over rows), so that a tied head
// shares the buffer. A lane decodes 8 columns of one row: one word at 4 bits, two at 8, four at f16, eight at f32.
// A token outside this part of the matrix is left to the part that has it.
#include "../include/structs/choice.wgsl"
#include "../include/structs/row.wgsl"

// 0 f32, 1 f16, 2 q8, 3 q4, 4 q4 with a minimum, 5 q6.
override format: u32 = 0;
// 1: the matrix has a row for each position, which is added to what the output has.
override positions: u32 = 0;

struct Uniforms { count: u32, start: u32, partRows: u32, paddedRows: u32, columns: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(2) var<storage, read> weights: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

// Of row n in group g; y is the minimum.
fn scaleOf(g: u32, n: u32) -> vec2f {
  let cell = g * uniforms.paddedRows + n;
  if (format == 4) { return unpack2x16float(scales[cell]); }
  let pair = unpack2x16float(scales[cell / 2]);
  return vec2f(select(pair.x, pair.y, (cell & 1) == 1), 0.0);
}

// Column 8 * octet + i of row n.
fn element(n: u32, octet: u32, i: u32) -> f32 {
  let g = octet / 4;
  let stride = uniforms.paddedRows;
  switch (format) {
    case 0: { return bitcast<f32>(weights[((2 * octet + i / 4) * stride + n) * 4 + i % 4]); }
    case 1: {
      let pair = unpack2x16float(weights[(octet * stride + n) * 4 + i / 2]);
      return select(pair.x, pair.y, (i & 1) == 1);
    }
    case 2: {
      let word = weights[((2 * g + octet % 4 / 2) * stride + n) * 4 + octet % 2 * 2 + i / 4];
      return f32(extractBits(i32(word), i % 4 * 8, 8)) * scaleOf(g, n).x;
    }
    default: {
      let word = weights[(g * stride + n) * 4 + octet % 4];
      let low = extractBits(word, i % 4 * 8 + i / 4 * 4, 4);
      if (format == 5) { // three planes: the scales of both halves, and two words of high bits
        let upper = octet % 4 / 2;
        let plane = 3 * g * stride + n;
        let high = extractBits(scales[plane + (1 + upper) * stride], i % 4 * 8 + (octet % 2 * 2 + i / 4) * 2, 2);
        return (f32(low + 16 * high) - 32.0) * unpack2x16float(scales[plane])[upper];
      }
      let quant = f32(low);
      let s = scaleOf(g, n);
      if (format == 4) { return fma(quant, s.x, s.y); }
      return (quant - 8.0) * s.x;
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let octet = id.x;
  if (octet >= (uniforms.columns + 7) / 8) { return; }
  var token = rows[id.y].token;
  let ringEntry = rows[id.y].ringEntry;
  if (ringEntry > 0) { token = tokenRing[ringEntry - 1].token; }
  if (positions == 1) { token = rows[id.y].position; }
  if (token < uniforms.start || token >= uniforms.start + uniforms.partRows) { return; }
  let base = id.y * ((uniforms.columns + 31) / 32) * 32 + octet * 8;
  for (var i = 0u; i < min(8u, uniforms.columns - octet * 8); i++) {
    let value = element(token - uniforms.start, octet, i) * uniforms.scale;
    if (positions == 1) { output[base + i] += value; } else { output[base + i] = value; }
  }
}
