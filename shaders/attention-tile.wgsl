// What the later stages of attention ask about a tile: four (row, head) pairs of one kv head, and a chunk of 64 keys.
const HIDDEN = -3.0e38;

// Does any row of the tile have keys in the chunk? `wide`: rows may have a `cut`, which is asked for at a cost.
fn live(tile: u32, chunk: u32, wide: bool) -> bool {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  let key = i32(chunk * 64);
  for (var row = 4 * tile / group; row <= last; row++) {
    if (any(seen(rows[row], key) != vec2u())) { return true; }
    if (wide && any(early(rows[row], key + 64) != vec2u())) { return true; }
  }
  return false;
}

// For which of the tile's pairs keys of the next chunk are added up as a part of this one.
fn joined(tile: u32, chunk: u32) -> vec4<bool> {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let key = i32(chunk * 64 + 64);
  var pairs = vec4<bool>();
  for (var p = 0u; p < 4; p++) {
    let row = min(4 * tile + p, uniforms.rows * group - 1) / group;
    pairs[p] = any(early(rows[row], key) != vec2u());
  }
  return pairs;
}

// Of every row in the tile: no key at or beyond it is visible.
fn bound(tile: u32) -> u32 {
  let group = uniforms.heads / uniforms.keyValueHeads;
  let last = min(4 * tile + 3, uniforms.rows * group - 1) / group;
  var end = 0u;
  for (var i = 4 * tile / group; i <= last; i++) {
    let row = rows[i];
    let ancestors = 64 - select(countLeadingZeros(row.maskHigh), 32 + countLeadingZeros(row.maskLow), row.maskHigh == 0);
    if (row.alive == 1) { end = max(end, max(row.base + ancestors, max(row.prefix, row.end))); }
  }
  return min(end, uniforms.capacity);
}
