// EXAONE 3, 3.5 and Deep: the LLaMA decoder, whose fields and tensors have GPT-2's names.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';

const FIELDS = {
  num_hidden_layers: 'num_layers',
  hidden_act: 'activation_function',
  rms_norm_eps: 'layer_norm_epsilon',
};

const AT = 'transformer.h.{i}';

export const readExaone = (given: Config): Architecture => {
  const config = given.named(FIELDS);
  config.ignore('embed_dropout');
  return readDecoder(config, {
    family: 'exaone',
    tied: true,
    epsilon: 1e-5,
    names: {
      embedding: 'transformer.wte.weight',
      attentionNorm: `${AT}.ln_1.weight`,
      query: `${AT}.attn.attention.q_proj.weight`,
      key: `${AT}.attn.attention.k_proj.weight`,
      value: `${AT}.attn.attention.v_proj.weight`,
      output: `${AT}.attn.attention.out_proj.weight`,
      feedForwardNorm: `${AT}.ln_2.weight`,
      gate: `${AT}.mlp.c_fc_0.weight`,
      up: `${AT}.mlp.c_fc_1.weight`,
      down: `${AT}.mlp.c_proj.weight`,
      finalNorm: 'transformer.ln_f.weight',
    },
  });
};
