// Moves cache rows from slot to slot, keys and values of all heads, for one layer. One lane owns one unit of a row and
// makes all the moves in order, so that a row is read before a later move overwrites it, without any barrier. A list
// that is not full ends with END; a move onto itself is skipped.
#include "../include/moves.wgsl"

// `units` and `words`: see cache-precision.ts.
struct Uniforms { count: u32, keyValueHeads: u32, units: u32, words: u32, ring: u32 }

@group(0) @binding(0) var<storage, read_write> keys: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> values: array<vec2u>;
@group(0) @binding(2) var<storage, read> moves: array<Move>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

fn keyUnit(head: u32, slot: u32, unit: u32) -> u32 {
  let place = slot % uniforms.ring;
  let chunk = head * (uniforms.ring / 64) + place / 64;
  return (chunk * uniforms.units + unit) * 64 + place % 64;
}

fn valueUnit(head: u32, slot: u32, unit: u32) -> u32 {
  return (head * uniforms.ring + slot % uniforms.ring) * uniforms.units + unit;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= uniforms.keyValueHeads * uniforms.units) { return; }
  let head = id.x / uniforms.units;
  let unit = id.x % uniforms.units;
  let words = uniforms.words;
  for (var i = 0u; i < uniforms.count; i++) {
    let step = moves[i];
    if (step.source == END) { break; }
    if (step.source == step.to) { continue; }
    for (var w = 0u; w < words; w++) {
      keys[keyUnit(head, step.to, unit) * words + w] = keys[keyUnit(head, step.source, unit) * words + w];
      values[valueUnit(head, step.to, unit) * words + w] = values[valueUnit(head, step.source, unit) * words + w];
    }
  }
}
