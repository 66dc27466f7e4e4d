import { expect, test } from 'vitest';
import { attention, message, QWEN35 } from '../../testing/toys/family-configs.ts';
import { type Block, tensorSpecs, weightSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('Qwen3.5: layers, gates, rotated dimensions, and the nested config of published checkpoints', () => {
  const read = readArchitecture(QWEN35);
  expect(read.blocks.map(({ mixer }) => mixer.kind)).toEqual(['delta-net', 'delta-net', 'delta-net', 'attention']);
  expect(attention(read.blocks[3] as Block)).toMatchObject({ gate: 'sigmoid', queryKeyNorm: 'head', window: null });
  expect(attention(read.blocks[3] as Block).rope?.dimensions).toBe(8);
  const shapes = new Map(tensorSpecs(read).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.3.self_attn.q_proj.weight')).toEqual([2 * 6 * 32, 96]);
  expect(shapes.get('model.layers.0.linear_attn.in_proj_qkv.weight')).toEqual([96, 96]);
  expect(shapes.get('model.layers.0.linear_attn.conv1d.weight')).toEqual([96, 1, 3]);
  expect(shapes.get('model.layers.0.linear_attn.A_log')).toEqual([4]);
  const specs = weightSpecs(read);
  const offsets = new Map(specs.map(({ checkpoint, offset }) => [checkpoint, offset]));
  expect(offsets.get('model.layers.3.self_attn.k_norm.weight')).toBe(1);
  expect(offsets.get('model.layers.0.linear_attn.norm.weight')).toBe(0);
  const { architectures: _, tie_word_embeddings, ...text } = QWEN35;
  const published = {
    architectures: ['Qwen3_5ForConditionalGeneration'],
    image_token_id: 1,
    tie_word_embeddings,
    text_config: { ...text, mtp_num_hidden_layers: 1, attn_output_gate: true, full_attention_interval: 4 },
    vision_config: { depth: 2 },
  };
  const nested = readArchitecture(published, new Set(['model.language_model.embed_tokens.weight']));
  expect(weightSpecs(nested).map(({ shape }) => shape)).toEqual(specs.map(({ shape }) => shape));
  expect(weightSpecs(nested)[0]?.checkpoint).toBe('model.language_model.embed_tokens.weight');
  expect(nested.otherParts).toEqual(['mtp.', 'model.visual.', 'visual.']);
  expect(nested.head).toBe('tied');
  const inner = { ...published, text_config: { ...text, tie_word_embeddings: false } };
  expect(readArchitecture(inner).head).toBe('tied');
  const biased = new Map(
    tensorSpecs(readArchitecture({ ...QWEN35, attention_bias: true })).map((t) => [t.checkpoint, t]),
  );
  expect(biased.get('model.layers.3.self_attn.q_proj.bias')?.shape).toEqual([2 * 6 * 32]);
  expect(biased.has('model.layers.3.self_attn.o_proj.bias')).toBe(true);
  expect(message({ ...QWEN35, attn_output_gate: false })).toContain('attn_output_gate = false is not supported');
  expect(message({ ...QWEN35, linear_num_key_heads: 3 })).toContain('linear_num_value_heads 4 is not a multiple');
  expect(message({ ...QWEN35, layer_types: ['mamba', 'mamba', 'mamba', 'mamba'] })).toContain('layer_types[0] = mamba');
});
