import { expect, test } from 'vitest';
import { LLAMA, message, QWEN3, windows } from '../../testing/toys/family-configs.ts';

test('sliding windows: Mistral everywhere, Qwen where layer_types or max_window_layers say so', () => {
  const mistral = { ...LLAMA, architectures: ['MistralForCausalLM'] };
  expect(windows({ ...mistral, sliding_window: null })).toEqual([null, null, null, null]);
  expect(windows({ ...mistral, sliding_window: 8 })).toEqual([8, 8, 8, 8]);
  const sliding = { ...QWEN3, use_sliding_window: true, sliding_window: 8 };
  expect(windows({ ...sliding, max_window_layers: 3 })).toEqual([null, null, null, 8]);
  expect(windows({ ...sliding, use_sliding_window: false, max_window_layers: 3 })).toEqual([null, null, null, null]);
  const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
  expect(windows({ ...sliding, layer_types: types })).toEqual([8, null, 8, null]);
  expect(message({ ...sliding, layer_types: types.slice(1) })).toContain('layer_types names 3 layers');
});

test.each([
  ['Mistral', {}, [4096, 4096, 4096, 4096]],
  ['Exaone4', {}, [4096, 4096, 4096, null]],
  ['Qwen2', {}, [null, null, null, null]],
  ['Qwen2', { use_sliding_window: true, sliding_window: 8 }, [null, null, null, null]],
  ['Qwen3', { use_sliding_window: true, max_window_layers: 2 }, [null, null, 4096, 4096]],
  ['Qwen3', { use_sliding_window: true, max_window_layers: 2, sliding_window: null }, [null, null, null, null]],
])('where the config does not say, %s %j has the windows of its configuration class', (family, fields, expected) => {
  expect(windows({ ...LLAMA, ...fields, architectures: [`${family}ForCausalLM`] })).toEqual(expected);
});
