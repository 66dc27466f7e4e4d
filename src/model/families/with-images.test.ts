import { expect, test } from 'vitest';
import { LFM2, LLAMA, message } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test('the language models of Qwen2-VL, Qwen2.5-VL and Qwen3-VL are Qwen2 and Qwen3', () => {
  const { architectures: _, tie_word_embeddings, ...text } = LLAMA;
  const images = { image_token_id: 1, video_token_id: 2, vision_config: { depth: 2 } };
  const mrope = { rope_scaling: { type: 'mrope', mrope_section: [2, 3, 3] } };
  const qwen2 = readArchitecture({ ...LLAMA, architectures: ['Qwen2ForCausalLM'] });
  for (const version of ['2', '2_5']) {
    const outer = { architectures: [`Qwen${version}VLForConditionalGeneration`.replace('5VL', '5_VL')], ...images };
    const flat = readArchitecture({ ...outer, ...text, ...mrope, tie_word_embeddings });
    expect(flat).toEqual({ ...qwen2, otherParts: ['model.visual.', 'visual.'] });
    const inner = { text_config: { ...text, ...mrope, tie_word_embeddings } };
    expect(readArchitecture({ ...outer, ...inner })).toEqual(flat);
  }
  const qwen3 = { ...images, architectures: ['Qwen3VLForConditionalGeneration'], tie_word_embeddings };
  const sections = { rope_type: 'default', mrope_interleaved: true, mrope_section: [2, 3, 3] };
  const read = readArchitecture({ ...qwen3, text_config: { ...text, rope_scaling: sections } });
  expect(read.blocks).toEqual(readArchitecture({ ...LLAMA, architectures: ['Qwen3ForCausalLM'] }).blocks);
  expect(read.head).toBe('tied');
  expect(message({ ...LLAMA, ...mrope })).toContain('RoPE type mrope');
});

test('the language models of SmolVLM and LFM2-VL are LLaMA and LFM2', () => {
  const { architectures: _, tie_word_embeddings, ...text } = LLAMA;
  const smolvlm = {
    architectures: ['SmolVLMForConditionalGeneration'],
    model_type: 'smolvlm',
    image_token_id: 1,
    scale_factor: 4,
    text_config: { ...text, model_type: 'llama', perceiver_config: {}, qk_layer_norms: false, use_resampler: false },
    tie_word_embeddings: false,
    vision_config: {},
  };
  const read = readArchitecture(smolvlm, new Set(['model.text_model.embed_tokens.weight']));
  expect(read.blocks).toEqual(readArchitecture(LLAMA).blocks);
  expect([read.head, read.names.embedding, read.names.head]).toEqual([
    'own',
    'model.text_model.embed_tokens.weight',
    'lm_head.weight',
  ]);
  const { architectures: __, ...lfm2 } = LFM2;
  const images = { architectures: ['Lfm2VlForConditionalGeneration'], image_token_id: 1, vision_config: {} };
  const { otherParts, ...inner } = readArchitecture({ ...images, downsample_factor: 2, text_config: lfm2 });
  expect(inner).toEqual(readArchitecture(LFM2));
  expect(otherParts).toContain('model.multi_modal_projector.');
});
