import { expect, test } from 'vitest';
import { LLAMA, windows } from '../../testing/toys/family-configs.ts';

test('SmolLM3: use_sliding_window counts only where layer_types does not say which layers slide', () => {
  const smollm3 = { ...LLAMA, architectures: ['SmolLM3ForCausalLM'], no_rope_layers: [1, 0, 1, 0], sliding_window: 8 };
  expect(windows(smollm3)).toEqual([null, null, null, null]);
  expect(windows({ ...smollm3, use_sliding_window: true })).toEqual([null, 8, null, 8]);
  const listed = ['sliding_attention', 'full_attention', 'full_attention', 'sliding_attention'];
  for (const used of [true, false])
    expect(windows({ ...smollm3, use_sliding_window: used, layer_types: listed })).toEqual([8, null, null, 8]);
});
