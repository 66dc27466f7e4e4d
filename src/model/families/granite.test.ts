import { expect, test } from 'vitest';
import { type Json, LLAMA, message } from '../../testing/toys/family-configs.ts';
import { tensorSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

const GRANITE4: Json = {
  ...LLAMA,
  architectures: ['GraniteMoeHybridForCausalLM'],
  layer_types: Array(4).fill('attention'),
  num_local_experts: 0,
  num_experts_per_tok: 0,
  shared_intermediate_size: 72,
  position_embedding_type: 'rope',
  normalization_function: 'rmsnorm',
  init_method: 'mup',
  mamba_d_state: 256,
};

test('Granite 4: the dense models; recurrent layers and mixtures of experts are refused', () => {
  const shapes = new Map(tensorSpecs(readArchitecture(GRANITE4)).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.3.shared_mlp.input_linear.weight')).toEqual([144, 96]);
  expect(shapes.get('model.layers.3.shared_mlp.output_linear.weight')).toEqual([96, 72]);
  expect(readArchitecture({ ...GRANITE4, layer_types: Array(4).fill('full_attention') }).blocks).toHaveLength(4);
  const mixed = ['mamba', 'attention', 'mamba', 'attention'];
  expect(message({ ...GRANITE4, layer_types: mixed })).toContain('a layer of type mamba is not supported');
  expect(message({ ...GRANITE4, layer_types: undefined })).toContain('a layer of type mamba is not supported');
  expect(message({ ...GRANITE4, layer_types: ['attention'] })).toContain('layer_types names 1 layers');
  expect(message({ ...GRANITE4, num_local_experts: 8 })).toContain('mixtures of experts are not supported');
  expect(message({ ...GRANITE4, num_local_experts: undefined })).toContain('mixtures of experts are not supported');
  expect(message({ ...GRANITE4, position_embedding_type: 'nope' })).toContain('position_embedding_type nope');
  expect(message({ ...GRANITE4, position_embedding_type: null })).toContain('position_embedding_type nope');
});
