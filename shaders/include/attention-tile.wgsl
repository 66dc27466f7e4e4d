// A tile is what one workgroup of attention works on: some (row, head) pairs that share a kv head, four to a vec4, the
// pair vectors, which share each load of the cache. A chunk is 64 keys. Needs `rows` and `uniforms`.
#include "rows.wgsl"

// Pair vectors of a tile.
override pairVectors: u32 = 1;
// 1 = some row's chunk boundary lies past its chunk's edge. A constant, because a software adapter takes both sides of
// a branch.
override branched: u32 = 0;

// The last row that a pair of the tile belongs to.
fn lastRow(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  return (min(4 * pairVectors * (tile + 1), uniforms.rows * group) - 1) / group;
}

// Does any row of the tile have keys in the chunk?
fn live(tile: u32, chunk: u32) -> bool {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = lastRow(tile);
  let key = i32(chunk * 64);
  for (var row = 4 * pairVectors * tile / group; row <= last; row++) {
    if (any(seen(rows[row], key) != vec2u())) { return true; }
    if (branched == 1 && any(early(rows[row], key + 64) != vec2u())) { return true; }
  }
  return false;
}

// The pairs of a vector for which keys of the next chunk are summed as a part of this one. The loop's end depends on the
// pass, so that it is not unrolled: that made LLVM take three times as long.
fn joined(pairVector: u32, chunk: u32) -> vec4<bool> {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let key = i32(chunk * 64 + 64);
  var pairs = vec4<bool>();
  let end = min(4 * pairVector + 4, uniforms.rows * group);
  for (var pair = 4 * pairVector; pair < end; pair++) {
    pairs[pair % 4] = any(early(rows[pair / group], key) != vec2u());
  }
  return pairs;
}

// No row of the tile sees a key at or past this slot.
fn bound(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = lastRow(tile);
  var end = 0u;
  for (var i = 4 * pairVectors * tile / group; i <= last; i++) {
    let row = rows[i];
    let zeros = select(countLeadingZeros(row.maskHigh), 32 + countLeadingZeros(row.maskLow), row.maskHigh == 0);
    let ancestors = 64 - zeros;
    if (row.alive == 1) { end = max(end, max(row.base + ancestors, max(row.prefix, row.end))); }
  }
  return min(end, uniforms.capacity);
}
