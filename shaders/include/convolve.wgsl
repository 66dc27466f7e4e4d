// A causal depthwise convolution: the sum over a row's own input and those of the `taps - 1` rows before it on its path.
// A lane owns two channels of all rows. It first puts every row's input into the row's slot, so that it reads them
// there again without a barrier, and then walks back from each row: ancestors in the tree, the row's own range, the
// shared past. The order of the sum is that of the walk. `width` elements lie in a row of the input. Where `biased` is 1,
// a bias for each channel follows the weights. Needs `inputOf` and `finish`.
#include "structs/row.wgsl"

struct Uniforms { rows: u32, channels: u32, taps: u32, width: u32, half: u32, biased: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> kept: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
@group(0) @binding(5) var<uniform> uniforms: Uniforms;

// Elements between two rows of an activation of so many elements.
fn stride(elements: u32) -> u32 { return (elements + 31) / 32 * 32; }

// A slot holds its channels in pairs: a word a pair at f16, two at f32.
fn keep(slot: u32, pair: u32, value: vec2f) {
  let i = slot * ((uniforms.channels + 1) / 2) + pair;
  if (uniforms.half == 1) {
    kept[i] = pack2x16float(value);
  } else {
    kept[2 * i] = bitcast<u32>(value.x);
    kept[2 * i + 1] = bitcast<u32>(value.y);
  }
}

fn keptAt(slot: u32, pair: u32) -> vec2f {
  let i = slot * ((uniforms.channels + 1) / 2) + pair;
  if (uniforms.half == 1) { return unpack2x16float(kept[i]); }
  return vec2f(bitcast<f32>(kept[2 * i]), bitcast<f32>(kept[2 * i + 1]));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let pair = id.x;
  let first = 2 * pair;
  if (first >= uniforms.channels) { return; }
  let second = min(first + 1, uniforms.channels - 1); // of an odd number of channels the last one is computed twice
  let taps = uniforms.taps;
  for (var r = 0u; r < uniforms.rows; r++) {
    let row = rows[r];
    if (row.alive == 1) { keep(row.slot, pair, vec2f(inputOf(r, first), inputOf(r, second))); }
  }
  for (var r = 0u; r < uniforms.rows; r++) {
    let row = rows[r];
    var sum = vec2f();
    if (row.alive == 1) {
      let newest = taps - 1;
      sum = vec2f(inputOf(r, first), inputOf(r, second))
        * vec2f(weight[first * taps + newest], weight[second * taps + newest]);
      if (uniforms.biased == 1) {
        let biases = uniforms.channels * taps;
        sum += vec2f(weight[biases + first], weight[biases + second]);
      }
      // The row itself is one of its ancestors.
      let node = row.slot - row.base;
      var high = select(row.maskHigh & ~(1u << (node & 31)), row.maskHigh, node < 32);
      var low = select(row.maskLow, row.maskLow & ~(1u << (node & 31)), node < 32);
      var own = row.end;
      var past = row.prefix;
      for (var back = 1u; back < taps; back++) {
        var slot = 0u;
        if (high != 0) {
          let bit = firstLeadingBit(high);
          high &= ~(1u << bit);
          slot = row.base + 32 + bit;
        } else if (low != 0) {
          let bit = firstLeadingBit(low);
          low &= ~(1u << bit);
          slot = row.base + bit;
        } else if (own > row.start) {
          own--;
          slot = own;
        } else if (past > row.first) {
          past--;
          slot = past;
        } else {
          break;
        }
        let tap = newest - back;
        sum = fma(keptAt(slot, pair), vec2f(weight[first * taps + tap], weight[second * taps + tap]), sum);
      }
    }
    let at = r * stride(uniforms.channels);
    output[at + first] = finish(r, first, sum.x);
    if (second > first) { output[at + second] = finish(r, second, sum.y); }
  }
}
