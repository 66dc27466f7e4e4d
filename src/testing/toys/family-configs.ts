// Configs of small models, for tests of the families, and what those read off an architecture.
import type { Attention, Block } from '../../model/architecture.ts';
import { readArchitecture } from '../../model/families/families.ts';

export type Json = Record<string, unknown>;

export const LLAMA: Json = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 320,
  hidden_size: 96,
  intermediate_size: 160,
  num_hidden_layers: 4,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  hidden_act: 'silu',
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
};

export const QWEN3: Json = { ...LLAMA, architectures: ['Qwen3ForCausalLM'], head_dim: 32 };

export const LFM2: Json = {
  architectures: ['Lfm2ForCausalLM'],
  vocab_size: 320,
  hidden_size: 96,
  intermediate_size: 200,
  block_multiple_of: 16,
  num_hidden_layers: 3,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
  norm_eps: 1e-5,
  rope_theta: 1e6,
  full_attn_idxs: [1],
  conv_L_cache: 4,
};

export const QWEN35: Json = {
  ...LLAMA,
  architectures: ['Qwen3_5ForCausalLM'],
  head_dim: 32,
  linear_num_key_heads: 2,
  linear_key_head_dim: 8,
  linear_num_value_heads: 4,
  linear_value_head_dim: 16,
  linear_conv_kernel_dim: 3,
  rope_parameters: { rope_type: 'default', rope_theta: 1e7, mrope_interleaved: true, mrope_section: [2, 1, 1] },
};

export const attention = ({ mixer }: Block): Attention => {
  if (mixer.kind !== 'attention') throw new Error(`the mixer is ${mixer.kind}`);
  return mixer;
};

export const windows = (config: Json) => readArchitecture(config).blocks.map((block) => attention(block).window);

export const ropeOf = (config: Json) => attention(readArchitecture(config).blocks[0] as Block).rope;

export const message = (config: Json): string => {
  try {
    readArchitecture(config);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the config was accepted');
};
