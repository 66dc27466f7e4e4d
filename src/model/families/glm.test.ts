import { expect, test } from 'vitest';
import { LLAMA } from '../../testing/toys/family-configs.ts';
import { weightSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('GLM: half of each head is rotated, by adjacent elements; queries, keys and values have biases', () => {
  const glm = { ...LLAMA, architectures: ['GlmForCausalLM'], head_dim: 8 };
  const specs = new Map(weightSpecs(readArchitecture(glm)).map((spec) => [`${spec.layer}.${spec.name}`, spec]));
  expect(specs.get('1.query')?.order).toEqual([0, 2, 1, 3, 4, 5, 6, 7]);
  expect(specs.get('1.up')).toMatchObject({ checkpoint: 'model.layers.1.mlp.gate_up_proj.weight', firstRow: 160 });
  expect([specs.has('1.keyBias'), specs.has('1.outputBias')]).toEqual([true, false]);
  expect(readArchitecture({ ...glm, head_dim: undefined }).sizes.headDim).toBe(128);
});
