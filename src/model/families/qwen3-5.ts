// Qwen3.5 (text): gated delta nets with layers of gated attention between them; norms with 1 + w. Published configs
// nest it under `text_config`, next to a vision tower.
import type { Architecture, Block } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readLayerTypes } from './layer-types.ts';
import { readRope, SECTIONS } from './rope-config.ts';
import { QWEN_IMAGES, readWithImages } from './with-images.ts';

const AT = 'model.layers.{i}';

const NAMES: Architecture['names'] = {
  outputGate: `${AT}.self_attn.q_proj.weight`,
  outputGateBias: `${AT}.self_attn.q_proj.bias`,
  deltaInput: `${AT}.linear_attn.in_proj_qkv.weight`,
  deltaGate: `${AT}.linear_attn.in_proj_z.weight`,
  deltaRate: `${AT}.linear_attn.in_proj_b.weight`,
  deltaDecay: `${AT}.linear_attn.in_proj_a.weight`,
  convolution: `${AT}.linear_attn.conv1d.weight`,
  decayLog: `${AT}.linear_attn.A_log`,
  decayBias: `${AT}.linear_attn.dt_bias`,
  deltaNorm: `${AT}.linear_attn.norm.weight`,
  deltaOutput: `${AT}.linear_attn.out_proj.weight`,
};

/** Fields of layers that predict several tokens at once, which are not run, and of models with experts. */
const UNUSED = ['mamba_ssm_dtype', 'mlp_only_layers', 'mtp_num_hidden_layers', 'mtp_use_dedicated_embeddings'];

/** Which layers attend; of the others the convolution and the delta rule are the mixer. */
const readAttending = (config: Config): ((layers: number) => readonly boolean[]) => {
  const interval = config.count('full_attention_interval', 4);
  const types = readLayerTypes(config, 'full_attention', 'linear_attention');
  return (layers) => types(layers) ?? Array.from({ length: layers }, (_, layer) => (layer + 1) % interval === 0);
};

export const readQwen35 = (config: Config): Architecture => {
  const shape = {
    keyHeads: config.count('linear_num_key_heads', 16),
    keyDim: config.count('linear_key_head_dim', 128),
    valueHeads: config.count('linear_num_value_heads', 32),
    valueDim: config.count('linear_value_head_dim', 128),
  };
  if (shape.valueHeads % shape.keyHeads !== 0)
    throw config.error(
      `linear_num_value_heads ${shape.valueHeads} is not a multiple of linear_num_key_heads ${shape.keyHeads}`,
    );
  const delta = { kind: 'delta-net', taps: config.count('linear_conv_kernel_dim', 4), shape } as const;
  const attending = readAttending(config);
  const bias = config.flag('attention_bias', false);
  config.must('attn_output_gate', true);
  config.ignore(...UNUSED);
  const read = readDecoder(config, {
    family: 'qwen3_5',
    queryKeyNorm: 'head',
    bias: { queryKeyValue: bias, output: bias },
    // GGUF stores 1 + w.
    normOffset: config.number('rms_norm_offset', 1),
    ropes: ({ layers, headDim, context }) => {
      const of = { headDim, context, partial: 0.25, unused: SECTIONS };
      return Array(layers).fill(readRope(config, of));
    },
    names: NAMES,
    sizes: { keyValueHeads: 4, headDim: 256, context: 32_768 },
  });
  const attends = attending(read.sizes.layers);
  const blocks = read.blocks.map((block, layer): Block => {
    if (!attends[layer]) return { ...block, mixer: delta };
    return block.mixer.kind === 'attention' ? { ...block, mixer: { ...block.mixer, gate: 'sigmoid' } } : block;
  });
  return { ...read, blocks, otherParts: ['mtp.'] };
};

/** As published: the language model of a checkpoint that also sees images. */
export const readQwen35WithImages = (config: Config): Architecture =>
  readWithImages(config, readQwen35, { tied: false, ...QWEN_IMAGES });
