// InternLM2 and 2.5: the LLaMA decoder under the names of LLaMA's first code, with queries, keys and values in one tensor
// by key head. InternLM3 is LLaMA.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';

const AT = 'model.layers.{i}';
const QKV = `${AT}.attention.wqkv`;

export const readInternLM2 = (config: Config): Architecture => {
  const bias = config.flag('bias', true);
  config.ignore('attn_implementation'); // how transformers computes attention
  return readDecoder(config, {
    family: 'internlm2',
    grouped: true,
    bias: { queryKeyValue: bias, output: bias },
    names: {
      embedding: 'model.tok_embeddings.weight',
      attentionNorm: `${AT}.attention_norm.weight`,
      query: `${QKV}.weight`,
      key: `${QKV}.weight`,
      value: `${QKV}.weight`,
      queryBias: `${QKV}.bias`,
      keyBias: `${QKV}.bias`,
      valueBias: `${QKV}.bias`,
      output: `${AT}.attention.wo.weight`,
      outputBias: `${AT}.attention.wo.bias`,
      feedForwardNorm: `${AT}.ffn_norm.weight`,
      gate: `${AT}.feed_forward.w1.weight`,
      up: `${AT}.feed_forward.w3.weight`,
      down: `${AT}.feed_forward.w2.weight`,
      head: 'output.weight',
    },
  });
};

/** One switch for the biases of attention, one for all others; its published code has them only together. */
export const readInternLM3 = (given: Config): Architecture => {
  const config = given.named({ attention_bias: 'qkv_bias', mlp_bias: 'bias' });
  const bias = config.flag('attention_bias', false);
  config.must('mlp_bias', bias);
  return readDecoder(config, {
    family: 'internlm3',
    epsilon: 1e-5,
    sizes: { keyValueHeads: 2, headDim: 128 },
    bias: { queryKeyValue: bias, output: bias },
    feedForwardBias: bias,
  });
};
