import { expect, test } from 'vitest';
import { LLAMA, ropeOf } from '../../testing/toys/family-configs.ts';
import { weightSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('ERNIE 4.5: rows of queries and keys are put where the kernels rotate them, those of values are not', () => {
  const config = { ...LLAMA, architectures: ['Ernie4_5ForCausalLM'], head_dim: 8, use_bias: true };
  const orders = new Map(weightSpecs(readArchitecture(config)).map(({ checkpoint, order }) => [checkpoint, order]));
  const order = (name: string) => orders.get(`model.layers.2.self_attn.${name}`);
  const halves = [0, 2, 4, 6, 1, 3, 5, 7];
  for (const name of ['q_proj.weight', 'k_proj.weight', 'q_proj.bias', 'k_proj.bias'])
    expect(order(name)).toEqual(halves);
  for (const name of ['v_proj.weight', 'v_proj.bias', 'o_proj.weight']) expect(order(name)).toBeUndefined();
  expect(readArchitecture({ ...config, head_dim: undefined }).sizes.headDim).toBe(128);
  expect(ropeOf(config)?.base).toBe(500_000);
});
