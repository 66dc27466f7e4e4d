import { expect, test } from 'vitest';
import { attention, type Json, LLAMA, message, QWEN35, ropeOf } from '../../testing/toys/family-configs.ts';
import type { Block } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('rope types', () => {
  const rope = (rope_scaling: Json) => ropeOf({ ...LLAMA, rope_scaling })?.scaling;
  expect(rope({ type: 'linear', factor: 2, finetuned: true })).toEqual({ type: 'linear', factor: 2 });
  const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128 };
  expect(rope(yarn)).toMatchObject({
    attentionFactor: 1 + 0.1 * Math.log(4),
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  });
  expect(rope({ ...yarn, attention_factor: 0.5 })).toMatchObject({ attentionFactor: 0.5 });
  expect(rope({ ...yarn, beta_fast: 0, beta_slow: 0 })).toMatchObject({ betaFast: 32, betaSlow: 1 });
  expect(rope({ ...yarn, mscale: 1, mscale_all_dim: 0.5 })).toMatchObject({
    attentionFactor: (1 + 0.1 * Math.log(4)) / (1 + 0.05 * Math.log(4)),
  });
  expect(readArchitecture({ ...LLAMA, rope_scaling: { ...yarn, factor: 8 } }).sizes.context).toBe(1024);
  expect(message({ ...LLAMA, rope_scaling: { rope_type: 'longrope', factor: 2 } })).toContain('RoPE type longrope');
  const partial = { partial_rotary_factor: 0.75 };
  const longrope = { rope_type: 'longrope', factor: 2, ...partial };
  expect(message({ ...LLAMA, ...partial, rope_scaling: longrope })).toContain('RoPE type longrope');
  expect(message({ ...LLAMA, rope_parameters: longrope })).toContain('RoPE type longrope');
  const linear = { rope_type: 'linear', factor: 2, ...partial };
  expect(message({ ...LLAMA, rope_parameters: linear })).toContain('partial_rotary_factor = 0.75 is not supported');
  expect(message({ ...LLAMA, rope_scaling: { rope_type: 'linear', factor: 2, twist: 1 } })).toContain('twist');
});

test('YaRN by kind of layer always rounds its range, as in transformers 5.23', () => {
  const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128, truncate: false };
  const scaling = (config: Json) =>
    attention(readArchitecture({ ...LLAMA, ...config }).blocks[3] as Block).rope?.scaling;
  expect(scaling({ rope_scaling: yarn })).toMatchObject({ truncate: false });
  const layered = { architectures: ['Olmo3ForCausalLM'], rope_parameters: { full_attention: yarn } };
  expect(scaling(layered)).toMatchObject({ truncate: true });
});

test('a dynamic RoPE is the plain one up to max_position_embeddings, which is the context', () => {
  const dynamic = { rope_type: 'dynamic', factor: 4, original_max_position_embeddings: 128 };
  const plain = readArchitecture({ ...LLAMA, rope_theta: 5e5 });
  expect(readArchitecture({ ...LLAMA, rope_theta: 5e5, rope_scaling: dynamic })).toEqual(plain);
  const { factor: _, ...without } = dynamic;
  expect(message({ ...LLAMA, rope_scaling: without })).toContain('factor is missing');
});

test('the context before scaling: outside the RoPE, else inside it, else the whole context', () => {
  const eight = Array<number>(8).fill(2);
  const original = (family: string, rope: Json, outside?: number | null) => {
    const fields = { architectures: [`${family}ForCausalLM`], original_max_position_embeddings: outside };
    const scaling = ropeOf({ ...LLAMA, ...fields, rope_scaling: rope })?.scaling;
    return scaling && 'originalContext' in scaling ? scaling.originalContext : null;
  };
  const inside = { original_max_position_embeddings: 128 };
  for (const [family, rope] of [
    ['Llama', { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 }],
    ['Llama', { rope_type: 'yarn', factor: 4 }],
    ['Phi3', { rope_type: 'longrope', short_factor: eight, long_factor: eight }],
  ] as const) {
    expect(original(family, rope, null)).toBe(512);
    expect(original(family, { ...rope, ...inside }, null)).toBe(128);
    expect(original(family, { ...rope, ...inside }, 64)).toBe(64);
    // The configuration class of Phi-3 always has the field outside.
    expect(original(family, { ...rope, ...inside })).toBe(family === 'Phi3' ? 4096 : 128);
  }
});

test.each([
  ['Phi3', { rope_type: 'default', rope_theta: 1e6 }],
  ['Gemma2', { rope_type: 'linear', factor: 2, rope_theta: 1e6 }],
])('%s with its RoPE in both layouts', (family, parameters) => {
  const config = { ...LLAMA, head_dim: 16, hidden_act: undefined, architectures: [`${family}ForCausalLM`] };
  const older = { rope_scaling: parameters };
  const alone = ropeOf({ ...config, rope_parameters: parameters });
  expect(ropeOf({ ...config, rope_parameters: parameters, ...older })).toEqual(alone);
  const other = { ...older, rope_parameters: { ...parameters, rope_theta: 5e5 } };
  expect(message({ ...config, ...other })).toContain('rope_parameters and rope_scaling disagree');
});

test('a part of each head is rotated: stated twice, as transformers 5 saves Phi-3', () => {
  const phi3 = { ...LLAMA, architectures: ['Phi3ForCausalLM'], head_dim: 16, partial_rotary_factor: 0.5 };
  const parameters = { rope_type: 'default', rope_theta: 1e4 };
  const twice = (factor: number) => ({ ...phi3, rope_parameters: { ...parameters, partial_rotary_factor: factor } });
  expect(ropeOf(twice(0.5))?.dimensions).toBe(8);
  expect(message(twice(0.75))).toContain('partial_rotary_factor is not 0.75');
});

test('partial_rotary_factor null is the whole head, where silence is a part of it', () => {
  const { rope_parameters: _, ...qwen35 } = QWEN35;
  const attending = (config: Json) => attention(readArchitecture(config).blocks[3] as Block).rope?.dimensions;
  expect([{}, { partial_rotary_factor: null }].map((own) => attending({ ...qwen35, ...own }))).toEqual([8, 32]);
  const glm = { ...LLAMA, head_dim: 16, architectures: ['GlmForCausalLM'] };
  expect([ropeOf(glm), ropeOf({ ...glm, partial_rotary_factor: null })].map((rope) => rope?.dimensions)).toEqual([
    8, 16,
  ]);
});
