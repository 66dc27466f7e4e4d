// The n most probable tokens of a row with their log-probabilities, for `logprobs`. Entries are as `unpackChoices` of
// sample.ts reads them. After the last possible token, entries have the vocabulary's size as their token.
import wgsl from '../../../shaders/sampling/top.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const top = defineKernel({
  name: 'top',
  wgsl,
  /** `row`: one u32, which row of logits, so that one plan serves them all. */
  bindings: { logits: 'read', row: 'read', output: 'write' },
  uniforms: { n: 'u32', vocabulary: 'u32' },
  tuning: { threads: 256 as number },
  grid: () => [1],
});
