// What GGUF's metadata of a family becomes, where the shared goldens have no file of it: the same architecture as that of
// the config.json that it was converted from.
import { expect, test } from 'vitest';
import type { Attention } from '../../model/architecture.ts';
import { readArchitecture } from '../../model/families/families.ts';
import { PUBLISHED } from '../../testing/published/configs.ts';
import { publishedGguf } from '../../testing/published/gguf-header.ts';
import { openCheckpoint } from '../open.ts';
import { ggufConfig } from './config.ts';
import type { GgufHeader, GgufValue } from './container.ts';

const SIZES = {
  block_count: 4,
  embedding_length: 96,
  feed_forward_length: 160,
  context_length: 512,
  'attention.head_count': 6,
  'attention.head_count_kv': [2, 2, 2, 2],
  'attention.layer_norm_rms_epsilon': 1e-5,
  'rope.freq_base': 1e6,
  'rope.scaling.finetuned': true,
};

const header = (
  name: string,
  fields: Record<string, GgufValue | undefined>,
  tensors: readonly string[] = [],
): GgufHeader => ({
  metadata: new Map<string, GgufValue>([
    ['general.architecture', name],
    ...Object.entries({ ...SIZES, ...fields }).flatMap(([key, value]): [string, GgufValue][] =>
      value === undefined ? [] : [[`${name}.${key}`, value]],
    ),
  ]),
  tensors: ['token_embd.weight', ...tensors, 'a', 'b', 'c', 'd'].map((tensor) => ({
    name: tensor,
    type: 'F32',
    shape: [320, 96],
    bytes: 0,
    start: 0,
  })),
});

const read = (...of: Parameters<typeof header>) => readArchitecture(ggufConfig(header(...of)));

test('Granite 4: dense models are Granite to llama.cpp, with fields of layers that they do not have', () => {
  const recurrent = { conv_kernel: 4, group_count: 1, inner_size: 4096, state_size: 256, time_step_rank: 128 };
  const ssm = Object.fromEntries(Object.entries(recurrent).map(([key, value]) => [`ssm.${key}`, value]));
  const model = read('granite', { ...ssm, expert_shared_feed_forward_length: 72, 'attention.scale': 0.25 });
  expect(model.family).toBe('granite');
  expect(model.sizes.feedForward).toBe(72);
  expect(model.blocks[0]?.mixer).toMatchObject({ scale: 0.25 });
  expect(() => read('granite', { ...ssm, expert_count: 8 })).toThrow('mixtures of experts are not supported');
});

test('Granite: rope.scaling.finetuned switches RoPE', () => {
  expect(read('granite', { 'rope.scaling.finetuned': true }).blocks[0]?.mixer).toMatchObject({ rope: { base: 1e6 } });
  const without = () => read('granite', { 'rope.scaling.finetuned': false });
  expect(without).toThrow('a Granite without RoPE is not supported');
});

test('OLMo 3 is olmo2 to llama.cpp, with a window', () => {
  expect(read('olmo2', {}).family).toBe('olmo2');
  const windowed = { 'attention.sliding_window': 9, 'attention.sliding_window_pattern': [true, false, true, false] };
  const model = read('olmo2', { ...windowed, 'rope.freq_base_swa': 7e5 });
  expect(model.blocks.map(({ mixer }) => (mixer as Attention).window)).toEqual([9, null, 9, null]);
  expect(model.blocks.map(({ mixer }) => (mixer as Attention).rope?.base)).toEqual([7e5, 1e6, 7e5, 1e6]);
});

test('Ministral 3: the second temperature of YaRN, and the context; without growing queries it is Mistral', () => {
  const yarn = {
    'rope.scaling.type': 'yarn',
    'rope.scaling.factor': 16,
    'rope.scaling.original_context_length': 128,
    'rope.scaling.yarn_log_multiplier': 1,
  };
  const model = read('mistral3', { ...yarn, 'attention.temperature_scale': 0.1 });
  expect(model).toMatchObject({ family: 'ministral3', sizes: { context: 128 } });
  expect(model.blocks[0]?.mixer).toMatchObject({ rope: { scaling: { attentionFactor: 1, originalContext: 128 } } });
  expect(read('mistral3', {}).family).toBe('mistral');
  expect(() => read('llama', yarn)).toThrow('rope.scaling.yarn_log_multiplier is not known');
});

test('Hunyuan, GLM, Gemma 1 and the language models of Qwen-VL', () => {
  expect(read('hunyuan-dense', {}).blocks[0]?.mixer).toMatchObject({
    queryKeyNorm: 'rotated head',
    rope: { base: 1e6 },
  });
  expect(read('chatglm', { 'rope.dimension_count': 8 }).blocks[0]?.mixer).toMatchObject({ rope: { dimensions: 8 } });
  expect(read('gemma', {})).toMatchObject({ norm: { offset: 0 }, blocks: { 0: { norms: 'before' } } });
  expect(read('qwen2vl', { 'rope.dimension_sections': [4, 2, 2, 0] }).family).toBe('qwen2');
  expect(read('qwen3vl', { n_deepstack_layers: 3 }).family).toBe('qwen3');
});

test('MiniCPM: its scales, or those that llama.cpp has for files without them; InternLM2 is LLaMA; GLM-4-0414', () => {
  const layers = (fields: Record<string, GgufValue>) => {
    const { blocks, input, logits } = read('minicpm', fields);
    return [blocks[0]?.residualScale, input.scale, logits.scale];
  };
  expect(layers({ embedding_scale: 10, residual_scale: 0.5, logit_scale: 3 })).toEqual([0.5, 10, 1 / 3]);
  expect(layers({})).toEqual([0.7, 12, 256 / 96]);
  const factors = ['rope_factors_long.weight', 'rope_factors_short.weight'];
  expect(read('minicpm', {}, factors).blocks[0]).toMatchObject({ mixer: { rope: { scaling: { type: 'longrope' } } } });
  expect(read('internlm2', {}).family).toBe('llama');
  expect(read('glm4', { 'rope.dimension_count': 8 }).blocks[0]).toMatchObject({
    norms: 'both',
    mixer: { rope: { dimensions: 8 } },
  });
});

test('EXAONE 3.5: the epsilon of its norms under either name', () => {
  const older = read('exaone', { 'attention.layer_norm_epsilon': 1e-6 });
  expect([older.family, older.norm.epsilon]).toEqual(['exaone', 1e-5]);
  const { metadata, tensors } = header('exaone', { 'attention.layer_norm_epsilon': 1e-6 });
  const renamed = new Map(metadata);
  renamed.delete('exaone.attention.layer_norm_rms_epsilon');
  expect(readArchitecture(ggufConfig({ metadata: renamed, tensors })).norm.epsilon).toBe(1e-6);
});

test('Gemma 2: window and soft caps where the file names none', () => {
  const model = read('gemma2', { 'attention.key_length': 16 });
  expect(model.blocks.map(({ mixer }) => (mixer as Attention).window)).toEqual([4096, null, 4096, null]);
  expect([model.blocks[0]?.mixer, model.logits]).toMatchObject([{ softCap: 50 }, { softCap: 30 }]);
});

test('Granite 4.0 1B: config.json and a GGUF header made of it are the same layers', async () => {
  const { 'ibm-granite/granite-4.0-1b': config = {} } = PUBLISHED;
  const mix = { most: 'Q4_K', better: 'Q6_K', vocabulary: 'Q6_K' };
  using checkpoint = await openCheckpoint(publishedGguf(config, mix).source);
  const [own, converted] = [readArchitecture(config), readArchitecture(checkpoint.config)];
  expect(converted.blocks).toEqual(own.blocks);
  expect([converted.sizes, converted.logits, converted.input]).toEqual([own.sizes, own.logits, own.input]);
});

test('EXAONE 4: layers that slide, one after another as the file lists them', () => {
  const windows = (...of: Parameters<typeof read>) =>
    read(...of).blocks.map(({ mixer }) => [(mixer as Attention).window, (mixer as Attention).rope !== null]);
  const sliding = { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': [true, true, false, true] };
  const [near, far] = [
    [8, true],
    [null, false],
  ];
  expect(windows('exaone4', sliding)).toEqual([near, near, far, near]);
  expect(windows('exaone4', { ...sliding, 'attention.sliding_window_pattern': 2 })).toEqual([near, far, near, far]);
  expect(windows('exaone4', { 'attention.sliding_window': 8 })).toEqual([near, near, near, far]);
  expect(windows('exaone4', {})).toEqual(Array(4).fill([null, true]));
  expect(read('exaone4', {}).blocks[0]).toMatchObject({ norms: 'after', mixer: { queryKeyNorm: 'head' } });
});

test.each([
  [undefined, [8, 8, 8, 8]],
  [2, [8, null, 8, null]],
  [
    [true, false, true, true],
    [8, null, 8, 8],
  ],
])('Gemma 3 with the pattern %j', (pattern, expected) => {
  const listed = pattern === undefined ? {} : { 'attention.sliding_window_pattern': pattern };
  const model = read('gemma3', { 'attention.key_length': 16, 'attention.sliding_window': 8, ...listed });
  expect(model.blocks.map(({ mixer }) => (mixer as Attention).window)).toEqual(expected);
  const short = { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': [true] };
  expect(() => read('gemma3', short)).toThrow('sliding_window_pattern names 1 layers');
});

test('a drafter of blocks with the pattern as a number', () => {
  const { metadata, tensors } = header('dflash', {
    block_size: 4,
    target_layers: [1, 2],
    'attention.sliding_window': 8,
    'attention.sliding_window_pattern': 2,
  });
  const config = ggufConfig({ tensors, metadata: new Map([...metadata, ['tokenizer.ggml.mask_token_id', 1]]) });
  const [near, far] = ['sliding_attention', 'full_attention'];
  expect(config).toMatchObject({ sliding_window: 8, layer_types: [near, far, near, far] });
});

test('longrope: of Phi-3 alone, by the name or by the factors', () => {
  const type = { 'rope.scaling.type': 'longrope' };
  const factors = ['rope_factors_long.weight', 'rope_factors_short.weight'];
  const refused = 'is not supported for the architecture llama';
  expect(() => read('llama', type)).toThrow(`rope.scaling.type longrope ${refused}`);
  expect(() => read('llama', {}, factors)).toThrow(`rope_factors_long.weight ${refused}`);
  const scaled = { mixer: { rope: { scaling: { type: 'longrope', originalContext: 512 } } } };
  expect(read('phi3', type, factors).blocks[0]).toMatchObject(scaled);
  expect(read('phi3', {}, factors).blocks[0]).toMatchObject(scaled);
  expect(read('phi3', type).blocks[0]).toMatchObject(scaled); // refused when its tensors are looked for
  const linear = { type: 'linear', factor: 2 };
  expect(read('phi3', { 'rope.scaling.factor': 2 }).blocks[0]).toMatchObject({ mixer: { rope: { scaling: linear } } });
});

test('as many dimensions are rotated as the file says, where their part of a head is no exact fraction', () => {
  const model = read('phi3', { embedding_length: 6 * 88, 'rope.dimension_count': 60 });
  expect(model.blocks[0]).toMatchObject({ mixer: { rope: { dimensions: 60 } } });
});

test('ERNIE 4.5 rotates adjacent elements, as its config.json has it', () => {
  expect(read('ernie4_5', {}).blocks[0]?.mixer).toMatchObject({ pairs: 'adjacent', bias: { output: false } });
  expect(read('ernie4_5', {}, ['blk.0.attn_q.bias']).blocks[0]?.mixer).toMatchObject({ bias: { output: true } });
});

test('a LLaMA with biases everywhere', () => {
  const [block] = read('llama', {}, ['blk.0.attn_q.bias', 'blk.0.ffn_down.bias']).blocks;
  expect(block).toMatchObject({ mixer: { bias: { output: true } }, feedForward: { bias: true } });
  expect(read('llama', {}).blocks[0]?.feedForward.bias).toBe(false);
});

test('the attention factor of YaRN: as the converter writes it, times what llama.cpp multiplies it by', () => {
  const yarn = { 'rope.scaling.type': 'yarn', 'rope.scaling.factor': 4 };
  const [stated, times] = ['rope.scaling.yarn_attn_factor', 'rope.scaling.attn_factor'];
  const factor = (fields: Record<string, number>) =>
    (read('llama', { ...yarn, ...fields }).blocks[0]?.mixer as Attention | undefined)?.rope?.scaling;
  const own = 0.1 * Math.log(4) + 1;
  expect(factor({})).toMatchObject({ attentionFactor: own });
  expect(factor({ [stated]: 1.5 })).toMatchObject({ attentionFactor: 1.5 });
  expect(factor({ [stated]: 1 })).toMatchObject({ attentionFactor: 1 });
  expect(factor({ [times]: 1.5 })).toMatchObject({ attentionFactor: 1.5 * own });
  const linear = { ...yarn, 'rope.scaling.type': 'linear' };
  expect(() => read('llama', { ...linear, [times]: 1.5 })).toThrow('attn_factor 1.5 is not supported');
  expect(() => read('llama', { [times]: 1.5 })).toThrow('attn_factor 1.5 is not supported');
});

test('families with LayerNorm: as llama.cpp converts them', () => {
  const norm = { 'attention.layer_norm_rms_epsilon': undefined, 'attention.layer_norm_epsilon': 1e-4 };
  const alike = { ...norm, 'attention.head_count_kv': 6, 'rope.dimension_count': 8 };
  const gpt2 = read('gpt2', { ...norm, 'attention.head_count_kv': undefined, 'rope.freq_base': undefined });
  expect(gpt2).toMatchObject({ transposed: false, head: 'tied', norm: { kind: 'layer', epsilon: 1e-4 } });
  expect(gpt2.sizes).toMatchObject({ heads: 6, feedForward: 160, context: 512 });
  const neox = read('gptneox', { ...alike, use_parallel_residual: false }).blocks[0];
  expect(neox).toMatchObject({ mixer: { rope: { base: 1e6, dimensions: 8 } } });
  expect(neox).not.toHaveProperty('parallel');
  expect(neox).not.toHaveProperty('mixer.grouped');
  const together = read('phi2', alike, ['blk.0.attn_qkv.weight']).names;
  expect([together.query, together.value]).toEqual(Array(2).fill('model.layers.{i}.self_attn.qkv_proj.weight'));
  expect(read('phi2', alike).names.query).toBe('model.layers.{i}.self_attn.q_proj.weight');
  expect(read('starcoder2', { ...norm }, ['blk.0.ffn_up.bias']).blocks[0]?.feedForward).toMatchObject({ bias: true });
  expect(read('stablelm', alike).blocks[0]?.parallel).toBe('shared norm');
  expect(read('stablelm', alike, ['blk.0.ffn_norm.weight']).blocks[0]?.parallel).toBeUndefined();
  const command = read('cohere2', { ...norm, logit_scale: 0.25, 'attention.sliding_window': 8 });
  expect(command.blocks.map(({ mixer }) => (mixer as Attention).window)).toEqual([8, 8, 8, null]);
  expect(read('command-r', { ...norm, logit_scale: 0.25 })).toMatchObject({ logits: { scale: 0.25 } });
  expect(() => read('gpt2', {})).toThrow('gpt2.attention.layer_norm_epsilon');
});
