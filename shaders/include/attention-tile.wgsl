// What the stages of attention ask about a tile: so many quartets of (row, head) pairs of one kv head, in the lanes of a
// vec4 each. `quartets`, a constant, is put in front of this; a chunk is 64 keys.
// 1 = rows may have a `cut`. A constant, because a software adapter goes through both sides of a branch.
override branched: u32 = 0;

const HIDDEN = -3.0e38;

// Of the rows that its pairs belong to.
fn lastRow(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  return (min(4 * quartets * (tile + 1), uniforms.rows * group) - 1) / group;
}

// Does any row of the tile have keys in the chunk?
fn live(tile: u32, chunk: u32) -> bool {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = lastRow(tile);
  let key = i32(chunk * 64);
  for (var row = 4 * quartets * tile / group; row <= last; row++) {
    if (any(seen(rows[row], key) != vec2u())) { return true; }
    if (branched == 1 && any(early(rows[row], key + 64) != vec2u())) { return true; }
  }
  return false;
}

// For which pairs of a quartet keys of the next chunk are added up as a part of this one.
fn joined(quartet: u32, chunk: u32) -> vec4<bool> {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let key = i32(chunk * 64 + 64);
  var pairs = vec4<bool>();
  for (var p = 0u; p < 4; p++) {
    let row = min(4 * quartet + p, uniforms.rows * group - 1) / group;
    pairs[p] = any(early(rows[row], key) != vec2u());
  }
  return pairs;
}

// Of every row in the tile: no key at or beyond it is visible.
fn bound(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = lastRow(tile);
  var end = 0u;
  for (var i = 4 * quartets * tile / group; i <= last; i++) {
    let row = rows[i];
    let ancestors = 64 - select(countLeadingZeros(row.maskHigh), 32 + countLeadingZeros(row.maskLow), row.maskHigh == 0);
    if (row.alive == 1) { end = max(end, max(row.base + ancestors, max(row.prefix, row.end))); }
  }
  return min(end, uniforms.capacity);
}
