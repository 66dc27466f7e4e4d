// Moves cache rows from slot to slot, keys and values of all heads, for one layer. One lane owns one vec4 of a row and
// makes all the moves in order, so that a row is read before a later move overwrites it, without any barrier. A list
// that is not full ends with END; a move onto itself is skipped.
#include "../include/moves.wgsl"

struct Uniforms { count: u32, keyValueHeads: u32, headDim: u32, capacity: u32, half: u32 }

@group(0) @binding(0) var<storage, read_write> keys: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> values: array<vec2u>;
@group(0) @binding(2) var<storage, read> moves: array<Move>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

fn keyQuad(head: u32, slot: u32, quad: u32) -> u32 {
  let chunk = head * (uniforms.capacity / 64) + slot / 64;
  return (chunk * (uniforms.headDim / 4) + quad) * 64 + slot % 64;
}

fn valueQuad(head: u32, slot: u32, quad: u32) -> u32 {
  return (head * uniforms.capacity + slot) * (uniforms.headDim / 4) + quad;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = uniforms.headDim / 4;
  if (id.x >= uniforms.keyValueHeads * quads) { return; }
  let head = id.x / quads;
  let quad = id.x % quads;
  let words = select(2u, 1u, uniforms.half == 1); // vec2 words in four dimensions, at f32 and at f16
  for (var i = 0u; i < uniforms.count; i++) {
    let step = moves[i];
    if (step.source == END) { break; }
    if (step.source == step.to) { continue; }
    for (var w = 0u; w < words; w++) {
      keys[keyQuad(head, step.to, quad) * words + w] = keys[keyQuad(head, step.source, quad) * words + w];
      values[valueQuad(head, step.to, quad) * words + w] = values[valueQuad(head, step.source, quad) * words + w];
    }
  }
}
