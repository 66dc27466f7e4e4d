import { expect, test } from 'vitest';
import { LLAMA } from '../../testing/toys/family-configs.ts';
import { tensorSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('Helium rotates as ERNIE 4.5 does; VaultGemma is Gemma 2 without norms after its parts', () => {
  const sized = { ...LLAMA, head_dim: 16 };
  const helium = readArchitecture({ ...sized, architectures: ['HeliumForCausalLM'] });
  expect(helium.blocks).toEqual(
    readArchitecture({ ...sized, architectures: ['Ernie4_5ForCausalLM'], rope_theta: 1e5 }).blocks,
  );
  const gemma = { ...sized, hidden_act: undefined, final_logit_softcapping: 20 };
  const { blocks, ...rest } = readArchitecture({ ...gemma, architectures: ['Gemma2ForCausalLM'] });
  const vault = readArchitecture({ ...gemma, architectures: ['VaultGemmaForCausalLM'] });
  expect(vault.blocks).toEqual(blocks.map((block) => ({ ...block, norms: 'before' })));
  expect({ ...vault, blocks, family: rest.family, names: rest.names }).toEqual({ ...rest, blocks });
  expect(
    tensorSpecs(vault)
      .map(({ checkpoint }) => checkpoint.replace('model.layers.0.', ''))
      .slice(1, 12),
  ).toEqual([
    'input_layernorm.weight',
    ...['q', 'k', 'v', 'o'].map((part) => `self_attn.${part}_proj.weight`),
    'pre_feedforward_layernorm.weight',
    ...['gate', 'up', 'down'].map((part) => `mlp.${part}_proj.weight`),
    'model.layers.1.input_layernorm.weight',
    'model.layers.1.self_attn.q_proj.weight',
  ]);
});
