// The architectures that config.json may name, and the family that reads each. A new family is a file and a line here.
import { OutriderError } from '../errors.ts';
import type { Architecture } from './architecture.ts';
import { Config } from './families/config.ts';
import { readLlama, readMistral } from './families/llama.ts';
import { readQwen2 } from './families/qwen2.ts';
import { readQwen3 } from './families/qwen3.ts';

const FAMILIES: Readonly<Record<string, (config: Config) => Architecture>> = {
  LlamaForCausalLM: readLlama,
  MistralForCausalLM: readMistral,
  Qwen2ForCausalLM: readQwen2,
  Qwen3ForCausalLM: readQwen3,
};

export const readArchitecture = (json: Readonly<Record<string, unknown>>): Architecture => {
  const named = Array.isArray(json.architectures) ? String(json.architectures[0]) : 'none';
  const read = Object.hasOwn(FAMILIES, named) ? FAMILIES[named] : undefined;
  if (!read)
    throw new OutriderError(
      'bad-checkpoint',
      `architecture ${named} is not supported`,
      `Supported: ${Object.keys(FAMILIES).join(', ')}.`,
    );
  return read(new Config(json));
};
