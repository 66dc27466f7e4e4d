// Logits and scores in order, whatever they hold.

const LOWEST = -3.4028234e38;

// A key with the order of the logits: the larger the logit, the larger its key.
fn keyOf(logit: f32) -> u32 {
  let bits = bitcast<u32>(logit);
  return select(bits | 0x80000000, ~bits, (bits >> 31) == 1);
}

// NaN, which is neither larger nor smaller than anything, as the lowest score. By bits: a compiler may take a
// comparison with NaN for impossible.
fn ordered(score: f32) -> f32 { return select(score, LOWEST, (bitcast<u32>(score) & 0x7fffffff) > 0x7f800000); }
