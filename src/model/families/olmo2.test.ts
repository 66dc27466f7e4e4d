import { expect, test } from 'vitest';
import { attention, LLAMA, windows } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test('OLMo 3: three layers of four slide, and their RoPE is not scaled', () => {
  const yarn = { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 64, attention_factor: 1.2 };
  const older = { ...LLAMA, architectures: ['Olmo3ForCausalLM'], rope_scaling: yarn };
  const read = readArchitecture(older);
  expect(windows(older)).toEqual([4096, 4096, 4096, null]);
  expect(read.blocks.map((block) => attention(block).rope?.scaling.type)).toEqual([
    ...Array(3).fill('default'),
    'yarn',
  ]);
  expect(read.blocks.map((block) => attention(block).rope?.base)).toEqual(Array(4).fill(500_000));
  const nested = {
    sliding_attention: { rope_type: 'default', rope_theta: 500_000 },
    full_attention: { ...yarn, rope_theta: 500_000 },
  };
  expect(readArchitecture({ ...older, rope_scaling: undefined, rope_parameters: nested })).toEqual(read);
});
