// The draft at a position of an ensemble's chain. Needs `tokenRing`.
#include "ensemble.wgsl"

fn draftAt(position: u32) -> u32 {
  let ringEntry = entry(position, 1);
  if (ringEntry > 0) { return tokenRing[ringEntry - 1].token; }
  return entry(position, 0);
}
