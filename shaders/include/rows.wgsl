// Which cache slots a row of a pass sees (kernels/cache/rows.ts).
#include "structs/row.wgsl"

// The score of a key that a row does not see.
const HIDDEN = -3.0e38;

// The n lowest of 64 bits.
fn below(n: i32) -> vec2u {
  let low = extractBits(0xffffffffu, 0, u32(clamp(n, 0, 32)));
  return vec2u(low, extractBits(0xffffffffu, 0, u32(clamp(n - 32, 0, 32))));
}

fn shift64(bits: vec2u, by: i32) -> vec2u {
  let n = u32(abs(by));
  let s = n & 31;
  if (n > 63) { return vec2u(); }
  if (by >= 0) {
    let b = select(bits, vec2u(0, bits.x), n > 31);
    return vec2u(b.x << s, (b.y << s) | ((b.x >> 1) >> (31 - s)));
  }
  let b = select(bits, vec2u(bits.y, 0), n > 31);
  return vec2u((b.x >> s) | ((b.y << 1) << (31 - s)), b.y >> s);
}

// Which of the 64 keys from `key` a row sees, as bits.
fn seen(row: Row, key: i32) -> vec2u {
  let past = below(i32(row.prefix) - key) & ~below(i32(row.first) - key);
  let own = below(i32(row.end) - key) & ~below(i32(row.start) - key);
  let ancestors = shift64(vec2u(row.maskLow, row.maskHigh), i32(row.base) - key);
  return select(vec2u(), past | own | ancestors, row.alive == 1);
}

// Which of those are summed as a part of the chunk before: see `chunkBoundary` in rows.ts.
fn early(row: Row, key: i32) -> vec2u {
  if (i32(row.chunkBoundary) <= key || i32(row.base / 64 * 64 + 64) != key) { return vec2u(); }
  return seen(row, key) & below(i32(row.chunkBoundary) - key);
}
