import { expect, test } from 'vitest';
import { LLAMA, windows } from '../../testing/toys/family-configs.ts';

test('Ministral: layers without a window where layer_types says so', () => {
  const ministral = { ...LLAMA, architectures: ['MinistralForCausalLM'], sliding_window: 8 };
  const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
  expect(windows(ministral)).toEqual([8, 8, 8, 8]);
  expect(windows({ ...ministral, layer_types: types })).toEqual([8, null, 8, null]);
});
