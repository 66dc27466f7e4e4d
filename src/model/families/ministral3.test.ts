import { expect, test } from 'vitest';
import { type Json, LLAMA, message, ropeOf } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

const MINISTRAL3: Json = {
  ...LLAMA,
  architectures: ['Ministral3ForCausalLM'],
  model_type: 'ministral3',
  sliding_window: null,
  rope_parameters: {
    beta_fast: 32,
    beta_slow: 1,
    factor: 16,
    llama_4_scaling_beta: 0.1,
    mscale: 1,
    mscale_all_dim: 1,
    original_max_position_embeddings: 128,
    rope_theta: 1e6,
    rope_type: 'yarn',
    type: 'yarn',
  },
};

test('Ministral 3: the context ends where queries would begin to grow', () => {
  const read = readArchitecture(MINISTRAL3);
  expect(read.sizes).toMatchObject({ context: 128, headDim: 128 });
  expect(ropeOf(MINISTRAL3)?.scaling).toMatchObject({ type: 'yarn', attentionFactor: 1 });
  expect(message({ ...MINISTRAL3, rope_parameters: undefined })).toContain('rope_parameters of type yarn are missing');
  const { architectures: _, tie_word_embeddings: __, ...text } = MINISTRAL3;
  const nested = {
    architectures: ['Mistral3ForConditionalGeneration'],
    model_type: 'mistral3',
    image_token_index: 10,
    text_config: text,
    vision_config: {},
    vision_feature_layer: -1,
  };
  const outer = readArchitecture(nested, new Set(['language_model.model.embed_tokens.weight']));
  expect(outer.names.embedding).toBe('language_model.model.embed_tokens.weight');
  expect([outer.head, outer.family, outer.sizes.context]).toEqual(['tied', 'ministral3', 128]);
  const small = { ...text, model_type: 'mistral', rope_parameters: undefined, rope_theta: 1e9 };
  expect(readArchitecture({ ...nested, text_config: small }).family).toBe('mistral');
});
