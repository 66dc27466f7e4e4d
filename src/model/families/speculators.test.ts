import { expect, test } from 'vitest';
import { type Json, LLAMA, QWEN3 } from '../../testing/toys/family-configs.ts';
import { readDrafter } from './families.ts';

test('sliding windows of an EAGLE-3 drafter: with layers of LLaMA layer_types alone decides', () => {
  const layers = { ...LLAMA, num_hidden_layers: 1, model_type: 'llama', sliding_window: 8 };
  const windowOf = (change: Json) => {
    const { architectures: _, ...sizes }: Json = { ...layers, ...change };
    const config = { speculators_model_type: 'eagle3', draft_vocab_size: 64, transformer_layer_config: sizes };
    const [block] = readDrafter(config).architecture.blocks;
    return block?.mixer.kind === 'attention' ? block.mixer.window : 'none';
  };
  const types = { layer_types: ['sliding_attention'] };
  expect(windowOf(types)).toBe(8);
  expect(windowOf({})).toBe(null);
  expect(windowOf({ ...types, use_sliding_window: false })).toBe(null);
  expect(windowOf({ ...types, sliding_window: undefined })).toBe(null);
  expect(windowOf({ max_window_layers: 0 })).toBe(null);
  expect(windowOf({ layer_types: ['full_attention'] })).toBe(null);
  // A switch of Qwen's, off where it is absent.
  expect(windowOf({ ...types, model_type: 'qwen3' })).toBe(null);
  expect(windowOf({ ...types, model_type: 'qwen3', use_sliding_window: true })).toBe(8);
});

test('heads of a DSpark drafter of speculators, where its config does not say: those of its configuration class', () => {
  const { architectures: _, ...layers } = QWEN3;
  const drafter = {
    speculators_model_type: 'dspark',
    aux_hidden_state_layer_ids: [1, 2],
    block_size: 4,
    draft_vocab_size: 320,
    mask_token_id: 3,
    sample_from_anchor: true,
    transformer_layer_config: layers,
  };
  const heads = (change: Json) => readDrafter({ ...drafter, ...change }).architecture.heads;
  const silent = { markov: { kind: 'vanilla', rank: 256 }, confidence: 'hidden and token' };
  expect(heads({})).toEqual(silent);
  expect(heads({ markov_rank: 8, confidence_head_with_markov: false })).toEqual({
    markov: { kind: 'vanilla', rank: 8 },
    confidence: 'hidden',
  });
  expect(heads({ enable_confidence_head: false, markov_rank: 0 })).toEqual({ markov: null, confidence: null });
});
