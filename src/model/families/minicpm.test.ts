import { expect, test } from 'vitest';
import { type Json, LLAMA, message, ropeOf } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test('MiniCPM has the multipliers of Granite by other names; of longrope its context chooses the factors', () => {
  const minicpm: Json = {
    ...LLAMA,
    architectures: ['MiniCPMForCausalLM'],
    dim_model_base: 32,
    mup_denominator: 32,
    scale_depth: 1.4,
    scale_emb: 12,
  };
  const granite = readArchitecture({
    ...LLAMA,
    architectures: ['GraniteForCausalLM'],
    attention_multiplier: 1 / 4,
    embedding_multiplier: 12,
    logits_scaling: 3,
    residual_multiplier: 0.7,
  });
  const { family: _, ...read } = readArchitecture(minicpm);
  expect(read).toEqual({ ...granite, family: undefined });
  const rope_scaling = { rope_type: 'longrope', short_factor: Array(8).fill(2), long_factor: Array(8).fill(3) };
  const factors = (original: number) => {
    const scaling = { ...rope_scaling, original_max_position_embeddings: original };
    return ropeOf({ ...minicpm, rope_scaling: scaling })?.scaling;
  };
  expect(factors(512)).toMatchObject({ short: Array(8).fill(2), long: Array(8).fill(2), attentionFactor: 1 });
  expect(factors(128)).toMatchObject({
    short: Array(8).fill(3),
    attentionFactor: Math.sqrt(1 + Math.log(4) / Math.log(128)),
  });
  expect(message({ ...minicpm, sparse_config: { topk: 64 } })).toContain('sparse_config');
});
