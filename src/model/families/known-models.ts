// The architectures that config.json may name, and the family that reads each. A new family is a file and a line here.
import type { OutriderError } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import type { Architecture } from '../architecture.ts';
import { Config } from './config.ts';
import { readLlama, readMistral } from './llama.ts';
import { readQwen2 } from './qwen2.ts';
import { readQwen3 } from './qwen3.ts';

export type Json = Readonly<Record<string, unknown>>;

const MODELS: Readonly<Record<string, (config: Config) => Architecture>> = {
  LlamaForCausalLM: readLlama,
  MistralForCausalLM: readMistral,
  Qwen2ForCausalLM: readQwen2,
  Qwen3ForCausalLM: readQwen3,
};

/** Known by name only: who loads one also loads known-drafters.ts, which reads them. */
const DRAFTERS = ['DFlashDraftModel', 'LlamaForCausalLMEagle3'] as const;
export type DrafterName = (typeof DRAFTERS)[number];

export const named = ({ architectures }: Json): string => {
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  return typeof first === 'string' ? first : 'none';
};

export const unsupported = (name: string, known: readonly string[], hint: string): OutriderError =>
  bad(`architecture ${name} is not supported${hint === '' ? '' : ' here'}`, hint || `Supported: ${known.join(', ')}.`);

export const isModel = (name: string): boolean => Object.hasOwn(MODELS, name);

export const isDrafter = (name: string): name is DrafterName => DRAFTERS.some((known) => known === name);

export const readArchitecture = (json: Json): Architecture => {
  const name = named(json);
  const read = isModel(name) ? MODELS[name] : undefined;
  if (read) return read(new Config(json));
  const hint = isDrafter(name) ? 'It is a drafter: load it beside the target it drafts for.' : '';
  throw unsupported(name, Object.keys(MODELS), hint);
};
