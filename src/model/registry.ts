// The architectures that config.json may name, and the family that reads each. A new family is a file and a line here.
import { OutriderError } from '../errors.ts';
import type { Architecture } from './architecture.ts';
import { Config } from './families/config.ts';
import { type DFlash, readDFlash } from './families/dflash.ts';
import { type Eagle3, readEagle3 } from './families/eagle3.ts';
import { readLlama, readMistral } from './families/llama.ts';
import { readQwen2 } from './families/qwen2.ts';
import { readQwen3 } from './families/qwen3.ts';

type Json = Readonly<Record<string, unknown>>;

const MODELS: Readonly<Record<string, (config: Config) => Architecture>> = {
  LlamaForCausalLM: readLlama,
  MistralForCausalLM: readMistral,
  Qwen2ForCausalLM: readQwen2,
  Qwen3ForCausalLM: readQwen3,
};

/** What drafts for a target, and cannot run without one. */
export type DrafterFamily = DFlash | Eagle3;

const DRAFTERS: Readonly<Record<string, (config: Config) => DrafterFamily>> = {
  DFlashDraftModel: readDFlash,
  LlamaForCausalLMEagle3: readEagle3,
};

const named = ({ architectures }: Json): string => (Array.isArray(architectures) ? String(architectures[0]) : 'none');

const unsupported = (name: string, known: object, hint = ''): OutriderError =>
  new OutriderError(
    'bad-checkpoint',
    `architecture ${name} is not supported${hint === '' ? '' : ' here'}`,
    hint || `Supported: ${Object.keys(known).join(', ')}.`,
  );

export const isDrafter = (json: Json): boolean => Object.hasOwn(DRAFTERS, named(json));

export const readArchitecture = (json: Json): Architecture => {
  const name = named(json);
  const read = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (read) return read(new Config(json));
  throw unsupported(name, MODELS, isDrafter(json) ? 'It is a drafter: load it beside the target it drafts for.' : '');
};

export const readDrafter = (json: Json): DrafterFamily => {
  const name = named(json);
  const read = Object.hasOwn(DRAFTERS, name) ? DRAFTERS[name] : undefined;
  if (read) return read(new Config(json));
  const model = Object.hasOwn(MODELS, name);
  throw unsupported(name, DRAFTERS, model ? 'It is a language model; as a drafter it goes by the name of draft.' : '');
};

/** Fields of a judge's config that say nothing of its body: those of its classes, and those of judge/config.ts. */
const HEAD_FIELDS = new Set([
  'classifier_dropout',
  'gives',
  'id2label',
  'label2id',
  'layout',
  'num_labels',
  'problem_type',
  'step_token_id',
]);

/** A LLaMA, Qwen2 … with another head goes by a name of its own. */
const HEADED = /^(Llama|Mistral|Qwen2|Qwen3)For(TokenClassification|SequenceClassification|RewardModel|PrmModel)$/;

/** Reward models and token classifiers, by the tensors of their heads. */
export const isScored = (tensors: { has(name: string): boolean }): boolean =>
  tensors.has('v_head.summary.weight') || tensors.has('score.weight');

/** The body of a judge; a vocabulary's head, if there is one, is not loaded. */
export const readScored = (json: Json): Architecture => {
  const body = Object.fromEntries(Object.entries(json).filter(([name]) => !HEAD_FIELDS.has(name)));
  const family = HEADED.exec(named(json))?.[1];
  const read = readArchitecture(family ? { ...body, architectures: [`${family}ForCausalLM`] } : body);
  return { ...read, head: 'tied' };
};
