// The gated delta rule (Qwen3.5), S = decay · S + k ⊗ rate · (v − decay · Sᵀk), in two dispatches: what the rule takes of
// each row goes to the row's slot, and then the states take it from there. A pass applies to a sequence's state only
// rows that are committed; those of the pass itself live in a working state that the next pass overwrites.
import rowsWgsl from '../../../shaders/delta-net/delta-rows.wgsl?raw';
import ruleWgsl from '../../../shaders/delta-net/delta-rule.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct } from '../../gpu/struct.ts';
import { deltaChannels } from './delta-shape.ts';

/** Rows at positions [next, end) of a sequence, which its state lacks; and where the slots of its own rows begin. */
export const STATE_SPAN = defineStruct('StateSpan', {
  next: 'u32',
  end: 'u32',
  prefix: 'u32',
  start: 'u32',
  /** 1: the state is that of an empty sequence before these rows. */
  begins: 'u32',
});

const shape = { keyHeads: 'u32', keyDim: 'u32', valueHeads: 'u32', valueDim: 'u32' } as const;

/**
 * `convolved`: queries, keys and values side by side. `rates`: of each value head the rate and then the decay, as they
 * were projected. `queries` are for `deltaRule`.
 */
export const deltaRows = defineKernel({
  name: 'delta-rows',
  wgsl: rowsWgsl,
  bindings: {
    convolved: 'read',
    rates: 'read',
    rows: 'read',
    decayLog: 'read',
    decayBias: 'read',
    kept: 'update',
    queries: 'write',
  },
  uniforms: { rows: 'u32', ...shape },
  tuning: {},
  grid: ({ rows, ...sizes }) => [Math.ceil((deltaChannels(sizes) + sizes.valueHeads) / 64), rows],
});

/** `states`: one for each sequence and, last, the working state. `spans`: one for each sequence. */
export const deltaRule = defineKernel({
  name: 'delta-rule',
  wgsl: ruleWgsl,
  bindings: { queries: 'read', kept: 'read', rows: 'read', spans: 'read', states: 'update', output: 'write' },
  uniforms: { rows: 'u32', ...shape, states: 'u32' },
  tuning: {},
  grid: ({ valueHeads, valueDim }) => [Math.ceil((valueHeads * valueDim) / 64)],
});
