import { expect, test } from 'vitest';
import { attention, type Json, LLAMA, message, windows } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test('EXAONE 4: windows by a pattern, a number or a list; layers without one are not rotated, unless none has one', () => {
  const exaone: Json = { ...LLAMA, architectures: ['Exaone4ForCausalLM'], sliding_window: 8 };
  const rotated = (config: Json) => readArchitecture(config).blocks.map((block) => attention(block).rope !== null);
  expect(windows({ ...exaone, sliding_window_pattern: 'LLG' })).toEqual([8, 8, null, 8]);
  expect(windows({ ...exaone, sliding_window_pattern: 2 })).toEqual([8, null, 8, null]);
  expect(windows(exaone)).toEqual([8, 8, 8, null]);
  expect(rotated(exaone)).toEqual([true, true, true, false]);
  const types = ['full_attention', 'sliding_attention', 'full_attention', 'sliding_attention'];
  expect(windows({ ...exaone, sliding_window_pattern: 'LLLG', layer_types: types })).toEqual([null, 8, null, 8]);
  const whole = { ...exaone, sliding_window: null, sliding_window_pattern: 4 };
  expect([windows(whole), rotated(whole)]).toEqual([Array(4).fill(null), Array(4).fill(true)]);
  expect(message({ ...exaone, sliding_window_pattern: 'LxG' })).toContain('sliding_window_pattern LxG');
  expect(message({ ...exaone, sliding_window_pattern: '' })).toContain('sliding_window_pattern');
  expect(message({ ...exaone, sliding_window_pattern: 0 })).toContain('sliding_window_pattern is 0');
});
