// Granite 3 and 4 (dense): the LLaMA decoder with four multipliers.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { type DecoderDifferences, readDecoder } from './decoder.ts';

const readMultiplied = (config: Config, differences: Partial<DecoderDifferences>): Architecture => {
  const bias = config.flag('attention_bias', false);
  const embedding = config.number('embedding_multiplier', 1);
  return readDecoder(config, {
    family: 'granite',
    bias: { queryKeyValue: bias, output: bias },
    embeddingScale: () => embedding,
    scale: config.number('attention_multiplier', 1),
    residualScale: config.number('residual_multiplier', 1),
    logits: { scale: 1 / config.positive('logits_scaling', 1), softCap: null },
    ...differences,
  });
};

export const readGranite = (config: Config): Architecture =>
  readMultiplied(config, { feedForwardBias: config.flag('mlp_bias', false) });

/** Of the parts that a dense model without recurrent layers does not have, and of training. */
const ABSENT = [
  'init_method',
  'intermediate_size', // of the experts
  'mamba_chunk_size',
  'mamba_conv_bias',
  'mamba_d_conv',
  'mamba_d_head',
  'mamba_d_state',
  'mamba_expand',
  'mamba_n_groups',
  'mamba_n_heads',
  'mamba_proj_bias',
  'num_experts_per_tok',
  'output_router_logits',
  'router_aux_loss_coef',
  'time_step_limit',
];

const INPUT = 'model.layers.{i}.shared_mlp.input_linear.weight';

/** Granite 4: the one class also has mixtures of experts and recurrent layers, whose models are refused. */
export const readGranite4 = (config: Config): Architecture => {
  const experts = config.number('num_local_experts', 8);
  if (experts !== 0) throw config.error(`num_local_experts is ${experts}: mixtures of experts are not supported`);
  const layers = config.count('num_hidden_layers');
  const types = config.texts('layer_types') ?? Array<string>(layers).fill('mamba');
  if (types.length !== layers)
    throw config.error(`layer_types names ${types.length} layers, num_hidden_layers is ${layers}`);
  const other = types.find((type) => type !== 'attention' && type !== 'full_attention');
  if (other !== undefined)
    throw config.error(
      `a layer of type ${other} is not supported`,
      'Only Granite 4 models whose layers are all attention are, those without H in their names.',
    );
  const position = config.text('position_embedding_type', 'nope');
  if (position !== 'rope') throw config.error(`position_embedding_type ${position} is not supported, only rope is`);
  config.must('normalization_function', 'rmsnorm');
  config.ignore(...ABSENT);
  return readMultiplied(config, {
    sizes: { feedForward: config.count('shared_intermediate_size', 1024) },
    names: { gate: INPUT, up: INPUT, down: 'model.layers.{i}.shared_mlp.output_linear.weight' },
  });
};
