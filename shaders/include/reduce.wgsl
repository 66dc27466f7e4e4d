// What a workgroup of `threads` lanes, a power of two, makes of a value of each lane. The tree of additions has a fixed
// shape. Results are read from element 0; a barrier must come between reading them and the next reduction of the same
// kind.
override threads: u32 = 256;

var<workgroup> bestScore: array<f32, threads>;
var<workgroup> bestToken: array<u32, threads>;
var<workgroup> sums: array<f32, threads>;

// Leaves the highest score in bestScore[0] and its token in bestToken[0]; among equal scores the lowest token.
fn reduceBest(lane: u32, score: f32, token: u32) {
  bestScore[lane] = score;
  bestToken[lane] = token;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) {
      let other = bestScore[lane + half];
      let otherToken = bestToken[lane + half];
      if (other > bestScore[lane] || (other == bestScore[lane] && otherToken < bestToken[lane])) {
        bestScore[lane] = other;
        bestToken[lane] = otherToken;
      }
    }
    workgroupBarrier();
  }
}

// Leaves the sum in sums[0].
fn reduceSum(lane: u32, own: f32) {
  sums[lane] = own;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { sums[lane] += sums[lane + half]; }
    workgroupBarrier();
  }
}
