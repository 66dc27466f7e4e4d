import { expect, test } from 'vitest';
import { attention, LLAMA, message, ropeOf } from '../../testing/toys/family-configs.ts';
import type { Block } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('Hunyuan: a fixed alpha stretches the base of RoPE; what its code would not run is refused', () => {
  const hunyuan = { ...LLAMA, architectures: ['HunYuanDenseV1ForCausalLM'], use_qk_norm: true, use_cla: false };
  const dynamic = {
    type: 'dynamic',
    alpha: 1000,
    beta_fast: 32,
    beta_slow: 1,
    factor: 1,
    mscale: 1,
    mscale_all_dim: 1,
  };
  expect(ropeOf({ ...hunyuan, rope_scaling: dynamic })).toEqual({
    base: 10_000 * 1000 ** (16 / 14),
    dimensions: 16,
    scaling: { type: 'default' },
  });
  expect(ropeOf({ ...hunyuan, rope_scaling: { type: 'dynamic', factor: 2 } })?.base).toBe(10_000);
  expect(attention(readArchitecture(hunyuan).blocks[0] as Block).queryKeyNorm).toBe('rotated head');
  expect(message({ ...LLAMA, rope_scaling: dynamic })).toContain('unknown field alpha');
  expect(message({ ...hunyuan, use_qk_norm: false })).toContain('use_qk_norm = false is not supported');
  const yarn = { rope_type: 'yarn', factor: 4 };
  expect(message({ ...hunyuan, rope_scaling: yarn })).toContain('RoPE type yarn is not supported in this family');
});
