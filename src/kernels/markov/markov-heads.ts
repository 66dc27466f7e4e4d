// The small steps of DSpark's heads: they join a row's hidden state and the token before it, apply what is not linear,
// and add the correction to a row of logits. Matrices and the token's embedding are those of kernels/matmul.
import addRowWgsl from '../../../shaders/markov/add-row.wgsl?raw';
import gateWgsl from '../../../shaders/markov/markov-gate.wgsl?raw';
import inputWgsl from '../../../shaders/markov/markov-input.wgsl?raw';
import recurWgsl from '../../../shaders/markov/markov-recur.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** The column of a part that an input does not have: beyond any other, and still so after a column is subtracted. */
export const NO_PART = 0x8000_0000;

/** `row`: of the hidden states. `to`: of the output. `hiddenAt`, …: where each part begins, or NO_PART. */
export const markovInput = defineKernel({
  name: 'markov-input',
  wgsl: inputWgsl,
  bindings: { hidden: 'read', embedded: 'read', state: 'read', output: 'write' },
  uniforms: {
    row: 'u32',
    to: 'u32',
    hidden: 'u32',
    rank: 'u32',
    hiddenAt: 'u32',
    embeddedAt: 'u32',
    stateAt: 'u32',
    columns: 'u32',
  },
  tuning: {},
  grid: ({ columns }) => [Math.ceil(columns / 64)],
});

export const markovGate = defineKernel({
  name: 'markov-gate',
  wgsl: gateWgsl,
  bindings: { gates: 'read', embedded: 'read', output: 'write' },
  uniforms: { rank: 'u32' },
  tuning: {},
  grid: ({ rank }) => [Math.ceil(rank / 64)],
});

export const markovRecur = defineKernel({
  name: 'markov-recur',
  wgsl: recurWgsl,
  bindings: { joint: 'read', state: 'update', output: 'write' },
  uniforms: { rank: 'u32' },
  tuning: {},
  grid: ({ rank }) => [Math.ceil(rank / 64)],
});

export const addRow = defineKernel({
  name: 'add-row',
  wgsl: addRowWgsl,
  bindings: { bias: 'read', rows: 'update' },
  uniforms: { row: 'u32', columns: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ columns }) => [Math.ceil(columns / 64)],
});
