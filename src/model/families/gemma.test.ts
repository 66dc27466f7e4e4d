import { expect, test } from 'vitest';
import { attention, type Json, LLAMA, message, windows } from '../../testing/toys/family-configs.ts';
import type { Block } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('Gemma 3 with the RoPE of its global layers in both layouts', () => {
  const gemma: Json = { ...LLAMA, architectures: ['Gemma3ForCausalLM'], head_dim: 16, sliding_window_pattern: 2 };
  const scaling = { rope_type: 'linear', factor: 8 };
  const nested = {
    sliding_attention: { rope_type: 'default', rope_theta: 5000 },
    full_attention: { ...scaling, rope_theta: 2e6 },
  };
  const bases = (config: Json) =>
    readArchitecture({ ...gemma, ...config })
      .blocks.slice(0, 2)
      .map((block) => attention(block).rope?.base);
  expect(bases({ rope_parameters: nested, rope_scaling: scaling })).toEqual([5000, 2e6]);
  expect(bases({ rope_parameters: { full_attention: scaling }, rope_theta: 3e6 })).toEqual([10_000, 3e6]);
  expect(message({ ...gemma, rope_parameters: nested, rope_scaling: { ...scaling, factor: 4 } })).toContain('disagree');
});

test('Gemma 3 has every sixth layer global, unless the pattern of transformers 4 or layer_types say otherwise', () => {
  const gemma = { ...LLAMA, hidden_act: undefined, architectures: ['Gemma3ForCausalLM'], sliding_window: 8 };
  expect(windows({ ...gemma, sliding_window_pattern: 2 })).toEqual([8, null, 8, null]);
  expect(windows({ ...gemma, _sliding_window_pattern: 2 })).toEqual([8, 8, 8, 8]);
});

test('Gemma 3 has no soft cap of scores, whatever its config says, as in the published code', () => {
  const gemma = { ...LLAMA, hidden_act: undefined, head_dim: 16, attn_logit_softcapping: 5 };
  const cap = (version: number) =>
    attention(readArchitecture({ ...gemma, architectures: [`Gemma${version}ForCausalLM`] }).blocks[0] as Block).softCap;
  expect([cap(2), cap(3)]).toEqual([5, null]);
});
