import { expect, test } from 'vitest';
import { type Json, LLAMA, message } from '../../testing/toys/family-configs.ts';
import { tensorSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('EXAONE 3.5 is LLaMA by other names', () => {
  const { num_hidden_layers, hidden_act, rms_norm_eps, ...llama } = LLAMA;
  const own = { num_layers: num_hidden_layers, activation_function: hidden_act, layer_norm_epsilon: rms_norm_eps };
  const exaone: Json = { ...llama, ...own, architectures: ['ExaoneForCausalLM'], embed_dropout: 0 };
  const { family: _, names: __, ...read } = readArchitecture(exaone);
  expect({ ...readArchitecture(LLAMA), family: undefined, names: undefined }).toEqual(read);
  expect(
    tensorSpecs(readArchitecture(exaone))
      .map(({ checkpoint }) => checkpoint.replace('h.3', 'h.i'))
      .slice(-11),
  ).toEqual([
    'transformer.h.2.mlp.c_proj.weight',
    'transformer.h.i.ln_1.weight',
    ...['q', 'k', 'v', 'out'].map((part) => `transformer.h.i.attn.attention.${part}_proj.weight`),
    'transformer.h.i.ln_2.weight',
    ...['fc_0', 'fc_1', 'proj'].map((part) => `transformer.h.i.mlp.c_${part}.weight`),
    'transformer.ln_f.weight',
  ]);
  expect(message({ ...exaone, num_layers: undefined })).toContain('num_layers is missing');
  expect(message({ ...exaone, activation_function: 'gelu' })).toContain('activation_function = "gelu"');
  expect(readArchitecture({ ...exaone, num_layers: undefined, num_hidden_layers: 2 }).sizes.layers).toBe(2);
});
