// The bodies of judges: models of known-models.ts under another head.
import type { Architecture } from '../architecture.ts';
import { type Json, named, readArchitecture } from './known-models.ts';

/** Fields of a judge's config that say nothing of its body: those of its classes, and those of judge/judge-config.ts. */
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
