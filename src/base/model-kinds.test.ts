import { expect, test } from 'vitest';
import { modelKind } from './model-kinds.ts';

/** Architectures of published models, of config.json and of GGUF. */
const KNOWN = {
  'a mixture of experts':
    'GptOssForCausalLM Qwen3MoeForCausalLM Qwen3_5MoeForConditionalGeneration MixtralForCausalLM Lfm2MoeForCausalLM ' +
    'DeepseekV2ForCausalLM OlmoeForCausalLM PhiMoEForCausalLM Llama4ForConditionalGeneration gpt-oss qwen3moe ernie4_5-moe',
  'recurrent layers':
    'MambaForCausalLM FalconH1ForCausalLM NemotronHForCausalLM Qwen3NextForCausalLM mamba2 rwkv7 falcon-h1 granitehybrid',
  embeddings: 'BertModel XLMRobertaModel Gemma3TextModel ModernBertForMaskedLM MistralModel nomic-bert gemma-embedding',
  'in every layer': 'Gemma3nForConditionalGeneration Gemma4ForConditionalGeneration gemma3n gemma4',
  'an encoder besides': 'T5ForConditionalGeneration BartForConditionalGeneration WhisperForConditionalGeneration t5',
  'sees images or hears':
    'LlavaForConditionalGeneration InternVLChatModel PaliGemmaForConditionalGeneration Phi4MMForCausalLM',
  'multi-head latent attention': 'MiniCPM3ForCausalLM minicpm3',
  'by diffusion': 'DreamModel LLaDAModelLM dream llada',
  'three values': 'BitNetForCausalLM bitnet',
  'vision tower': 'clip',
  'not that of transformers': 'ChatGLMModel',
};

test.each(Object.entries(KNOWN))('%s', (what, names) => {
  for (const name of names.split(' '))
    expect([name, modelKind(name)?.what]).toEqual([name, expect.stringContaining(what)]);
});

test('others are told by their fields, or not at all', () => {
  const what = (config: Record<string, unknown>) => modelKind('NewForCausalLM', config)?.what;
  expect(what({ n_routed_experts: 64 })).toContain('a mixture of experts');
  expect(what({ num_experts: 1 })).toBeUndefined();
  expect(what({ is_encoder_decoder: true })).toContain('encoder');
  expect(what({ kv_lora_rank: 512 })).toContain('latent attention');
  for (const name of [
    'GPT2LMHeadModel',
    'OPTForCausalLM',
    'ApertusForCausalLM',
    'FalconForCausalLM',
    'Qwen2ForProcessRewardModel',
  ])
    expect([name, modelKind(name)]).toEqual([name, null]);
});
