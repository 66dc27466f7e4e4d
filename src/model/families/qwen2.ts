// Qwen2 and Qwen2.5: the LLaMA decoder with biases on q, k and v, and optionally a sliding window in the upper layers.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readWindows } from './windows.ts';

export const readQwen2 = (config: Config): Architecture => {
  config.must('use_mrope', false);
  config.ignore('attention_bias'); // the published code does not read it
  return readDecoder(config, {
    family: 'qwen2',
    bias: { queryKeyValue: true, output: false },
    windows: readWindows(config),
  });
};
