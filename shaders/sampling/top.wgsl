// The n most probable tokens of one row of logits, best first, lowest index first among equals, with the row's
// log-sum-exp. One workgroup takes the maximum n times, each time of what comes after the one before it: n is small.
override threads: u32 = 256;

struct Choice { token: u32, logit: f32, logSumExp: f32, flags: u32 }
struct Uniforms { n: u32, vocabulary: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> row: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<Choice>;
@group(0) @binding(3) var<uniform> uniforms: Uniforms;

const LOWEST = -3.4028234e38;

var<workgroup> bestLogit: array<f32, threads>;
var<workgroup> bestToken: array<u32, threads>;
var<workgroup> sums: array<f32, threads>;
var<workgroup> broken: atomic<u32>;

@compute @workgroup_size(threads)
fn main(@builtin(local_invocation_index) lane: u32) {
  let vocabulary = uniforms.vocabulary;
  let start = row[0] * ((vocabulary + 31) / 32) * 32;
  var top = 0.0;
  var last = 0.0;
  var lastToken = 0u;
  for (var place = 0u; place < uniforms.n; place++) {
    var logit = LOWEST;
    var token = vocabulary;
    for (var i = lane; i < vocabulary; i += threads) {
      let x = logits[start + i];
      let bits = bitcast<u32>(x);
      if ((bits & 0x7fffffff) > 0x7f800000 || bits == 0x7f800000) { atomicOr(&broken, 1); }
      let later = place == 0 || x < last || (x == last && i > lastToken);
      if (later && x > logit) { logit = x; token = i; }
    }
    bestLogit[lane] = logit;
    bestToken[lane] = token;
    workgroupBarrier();
    for (var half = threads / 2; half > 0; half /= 2) {
      if (lane < half) {
        let x = bestLogit[lane + half];
        let i = bestToken[lane + half];
        if (x > bestLogit[lane] || (x == bestLogit[lane] && i < bestToken[lane])) {
          bestLogit[lane] = x;
          bestToken[lane] = i;
        }
      }
      workgroupBarrier();
    }
    last = bestLogit[0];
    lastToken = bestToken[0];
    workgroupBarrier();
    if (place == 0) { top = last; }
    if (lane == 0) {
      output[place].token = lastToken; // `vocabulary` when fewer than n tokens are possible
      output[place].logit = last;
    }
  }
  var sum = 0.0;
  for (var i = lane; i < vocabulary; i += threads) { sum += exp(logits[start + i] - top); }
  sums[lane] = sum;
  workgroupBarrier();
  for (var half = threads / 2; half > 0; half /= 2) {
    if (lane < half) { sums[lane] += sums[lane + half]; }
    workgroupBarrier();
  }
  for (var place = lane; place < uniforms.n; place += threads) {
    output[place].logSumExp = top + log(sums[0]);
    output[place].flags = atomicLoad(&broken);
  }
}
