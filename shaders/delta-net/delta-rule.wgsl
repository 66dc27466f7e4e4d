// The gated delta rule over the rows of a pass: S = decay · S; S = S + k ⊗ rate · (v − Sᵀk); output Sᵀq. A lane owns one
// column of one value head's S, so no sum crosses lanes. It first applies the committed rows that a sequence's state
// lacks, and then goes through the pass in order, in the working state after the last one: a row whose parent is the row
// before it goes on from there, any other begins with the sequence's state and applies its ancestors again. Either way
// the same operations lead to a row's state, so its bits depend on its path alone.
#include "../include/structs/row.wgsl"
#include "../include/structs/state-span.wgsl"

struct Uniforms {
  rows: u32, keyHeads: u32, keyDim: u32, valueHeads: u32, valueDim: u32, states: u32,
}

@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> kept: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> spans: array<StateSpan>;
@group(0) @binding(4) var<storage, read_write> states: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;
@group(0) @binding(6) var<uniform> uniforms: Uniforms;

const NONE = 0xffffffffu;

// Elements between two rows of an activation of so many elements.
fn stride(elements: u32) -> u32 { return (elements + 31) / 32 * 32; }

// Where this lane's column of a state begins; its elements lie `valueDim` apart.
fn columnOf(state: u32, head: u32, column: u32) -> u32 {
  return (state * uniforms.valueHeads + head) * uniforms.keyDim * uniforms.valueDim + column;
}

// Takes the row at a slot into a state.
fn apply(at: u32, slot: u32, head: u32, column: u32) {
  let keys = uniforms.keyHeads * uniforms.keyDim;
  let values = uniforms.valueHeads * uniforms.valueDim;
  let row = slot * (keys + values + 2 * uniforms.valueHeads);
  let key = row + head / (uniforms.valueHeads / uniforms.keyHeads) * uniforms.keyDim;
  let value = kept[row + keys + head * uniforms.valueDim + column];
  let decay = kept[row + keys + values + head];
  let rate = kept[row + keys + values + uniforms.valueHeads + head];
  var known = 0.0;
  for (var i = 0u; i < uniforms.keyDim; i++) {
    let cell = at + i * uniforms.valueDim;
    let s = states[cell] * decay;
    states[cell] = s;
    known = fma(s, kept[key + i], known);
  }
  let change = rate * (value - known);
  for (var i = 0u; i < uniforms.keyDim; i++) {
    let cell = at + i * uniforms.valueDim;
    states[cell] = fma(kept[key + i], change, states[cell]);
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let values = uniforms.valueHeads * uniforms.valueDim;
  if (id.x >= values) { return; }
  let head = id.x / uniforms.valueDim;
  let column = id.x % uniforms.valueDim;
  let working = columnOf(uniforms.states - 1, head, column);
  let query = head / (uniforms.valueHeads / uniforms.keyHeads) * uniforms.keyDim;
  var sequence = NONE; // whose state is up to date
  var node = NONE; // slot of the row that the working state belongs to
  for (var r = 0u; r < uniforms.rows; r++) {
    let row = rows[r];
    let destination = r * stride(values) + id.x;
    if (row.alive == 0) {
      output[destination] = 0;
      continue;
    }
    let own = columnOf(row.state, head, column);
    if (row.state != sequence) {
      sequence = row.state;
      node = NONE;
      let span = spans[row.state];
      if (span.begins == 1) {
        for (var i = 0u; i < uniforms.keyDim; i++) { states[own + i * uniforms.valueDim] = 0; }
      }
      for (var position = span.next; position < span.end; position++) {
        apply(own, select(span.start + position - span.prefix, position, position < span.prefix), head, column);
      }
    }
    // The row itself is one of its ancestors.
    let bit = row.slot - row.base;
    var low = select(row.maskLow, row.maskLow & ~(1u << (bit & 31)), bit < 32);
    var high = select(row.maskHigh & ~(1u << (bit & 31)), row.maskHigh, bit < 32);
    var parent = NONE;
    if (high != 0) {
      parent = row.base + 32 + firstLeadingBit(high);
    } else if (low != 0) {
      parent = row.base + firstLeadingBit(low);
    }
    if (node == NONE || node != parent) {
      for (var i = 0u; i < uniforms.keyDim; i++) {
        states[working + i * uniforms.valueDim] = states[own + i * uniforms.valueDim];
      }
      while (low != 0) {
        let first = firstTrailingBit(low);
        low &= low - 1;
        apply(working, row.base + first, head, column);
      }
      while (high != 0) {
        let first = firstTrailingBit(high);
        high &= high - 1;
        apply(working, row.base + 32 + first, head, column);
      }
    }
    apply(working, row.slot, head, column);
    node = row.slot;
    let queryRow = r * stride(uniforms.keyHeads * uniforms.keyDim) + query;
    var sum = 0.0;
    for (var i = 0u; i < uniforms.keyDim; i++) {
      sum = fma(states[working + i * uniforms.valueDim], queries[queryRow + i], sum);
    }
    output[destination] = sum;
  }
}
