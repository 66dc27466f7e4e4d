// OLMo 2: the LLaMA decoder with norms after its parts instead of before them, and q/k norms over the whole width.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';

const AT = 'model.layers.{i}';

export const readOlmo2 = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'olmo2',
    queryKeyNorm: 'row',
    bias: { queryKeyValue: bias, output: bias },
    norms: 'after',
    epsilon: 1e-5,
    names: {
      attentionPostNorm: `${AT}.post_attention_layernorm.weight`,
      feedForwardPostNorm: `${AT}.post_feedforward_layernorm.weight`,
    },
  });
};
