import { expect, test } from 'vitest';
import { type Json, LFM2, message } from '../../testing/toys/family-configs.ts';
import { weightSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

test('LFM2: layers, feed-forward width, taps', () => {
  const kinds = (config: Json) => readArchitecture(config).blocks.map(({ mixer }) => mixer.kind);
  expect(kinds(LFM2)).toEqual(['convolution', 'attention', 'convolution']);
  const types = ['full_attention', 'conv', 'full_attention'];
  expect(kinds({ ...LFM2, layer_types: types })).toEqual(['attention', 'convolution', 'attention']);
  expect(message({ ...LFM2, layer_types: types.slice(1) })).toContain('layer_types names 2 layers');
  expect(message({ ...LFM2, layer_types: ['conv', 'mamba', 'conv'] })).toContain('layer_types[1] = mamba');
  const width = (config: Json) => readArchitecture({ ...LFM2, ...config }).sizes.feedForward;
  expect(width({})).toBe(144);
  expect(width({ block_ff_dim: 100 })).toBe(80);
  expect(width({ block_ffn_dim_multiplier: 1.3 })).toBe(176);
  expect(width({ block_ffn_dim_multiplier: null, intermediate_size: 310 })).toBe(206);
  expect(width({ block_auto_adjust_ff_dim: false })).toBe(200);
  const shapes = new Map(weightSpecs(readArchitecture(LFM2)).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.0.conv.conv.weight')).toEqual([96, 1, 4]);
  expect(shapes.get('model.layers.0.conv.in_proj.weight')).toEqual([288, 96]);
  expect(shapes.has('model.layers.1.conv.in_proj.weight')).toBe(false);
  expect(readArchitecture({ ...LFM2, tie_embedding: false }).head).toBe('own');
  const biased = new Map(
    weightSpecs(readArchitecture({ ...LFM2, conv_bias: true })).map(({ checkpoint, shape }) => [checkpoint, shape]),
  );
  expect(biased.get('model.layers.0.conv.conv.bias')).toEqual([96]);
  expect(biased.get('model.layers.0.conv.in_proj.bias')).toEqual([288]);
  expect(biased.get('model.layers.0.conv.out_proj.bias')).toEqual([96]);
  expect(message({ ...LFM2, conv_dim: 64 })).toContain('conv_dim = 64 is not supported');
});
