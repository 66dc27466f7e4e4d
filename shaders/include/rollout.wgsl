// What both variants of the rollout kernel share: two sums for each slot and level. x: how much of the row's attention
// ends in rows that are sources, if every row were one; y: the same with only the rows below `sources`. A key that is a
// source hands on its x, any other its y, so accepting a step changes nothing on the device.
#include "rows.wgsl"

struct Uniforms {
  rows: u32, heads: u32, keyValueHeads: u32, headDim: u32, capacity: u32, scale: f32, softCap: f32,
  level: u32, levels: u32, skip: u32,
}

// 0 plain, 1 entries below 0.01 dropped, 2 half of every row stays where it is, 3 as 1 with rows that sum to one again.
override variant: u32 = 0;

const LEAST = 0.01;

// A chain's own rows lie together; the shared past begins with slot 0.
fn positionOf(row: Row, slot: u32) -> u32 { return select(slot - row.slot + row.position, slot, slot < row.prefix); }

// What a key hands on to this row, of the level below.
fn handed(row: Row, slot: u32) -> vec2f {
  let position = positionOf(row, slot);
  let source = position < row.sources;
  if (uniforms.level == 0) {
    let whole = select(0.0, 1.0, position >= uniforms.skip);
    return vec2f(whole, select(0.0, whole, source));
  }
  let below = rolloutState[slot * uniforms.levels + uniforms.level - 1];
  return vec2f(below.x, select(below.y, below.x, source));
}

// `weights`: summed over the heads.
fn averaged(weights: f32) -> f32 {
  let mean = weights / f32(uniforms.heads);
  return select(mean, 0.0, (variant == 1 || variant == 3) && mean < LEAST);
}

// What a key adds to a row's sums. z: the weights that were kept.
fn weighed(row: Row, slot: u32, weight: f32, sums: vec3f) -> vec3f {
  return fma(vec3f(handed(row, slot), 1), vec3f(weight), sums);
}

fn store(row: Row, sums: vec3f) {
  var stays = sums.xy;
  if (variant == 2) { stays = 0.5 * sums.xy + 0.5 * handed(row, row.slot); }
  if (variant == 3) { stays = select(vec2f(), sums.xy / sums.z, sums.z > 0); }
  rolloutState[row.slot * uniforms.levels + uniforms.level] = stays;
}
