// Granite 3 (dense): the LLaMA decoder with four multipliers.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';

export const readGranite = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  config.must('mlp_bias', false);
  const embedding = config.number('embedding_multiplier', 1);
  return readDecoder(config, {
    family: 'granite',
    bias: { queryKeyValue: bias, output: bias },
    embeddingScale: () => embedding,
    scale: config.number('attention_multiplier', 1),
    residualScale: config.number('residual_multiplier', 1),
    logits: { scale: 1 / config.positive('logits_scaling', 1), softCap: null },
  });
};
