// Reads RoPE from a config in both published layouts: transformers 5 (`rope_parameters`) and transformers 4
// (`rope_theta` and `rope_scaling`, whose type may be called `type`).
import { type Rope, type RopeScaling, yarnScale } from '../forward/rope-table.ts';
import type { Config } from './config.ts';

const readScaling = (scaling: Config, context: number): RopeScaling => {
  const type = scaling.text('rope_type', scaling.text('type', 'default'));
  switch (type) {
    case 'default':
      return { type };
    case 'linear':
      return { type, factor: scaling.positive('factor') };
    case 'llama3':
      return {
        type,
        factor: scaling.positive('factor'),
        lowFrequencyFactor: scaling.number('low_freq_factor'),
        highFrequencyFactor: scaling.number('high_freq_factor'),
        originalContext: scaling.count('original_max_position_embeddings'),
      };
    case 'yarn': {
      const factor = scaling.positive('factor');
      const [mscale, all] = [scaling.number('mscale', 0), scaling.number('mscale_all_dim', 0)];
      const implied = mscale && all ? yarnScale(factor, mscale) / yarnScale(factor, all) : yarnScale(factor);
      return {
        type,
        factor,
        originalContext: scaling.count('original_max_position_embeddings', context),
        attentionFactor: scaling.number('attention_factor', implied),
        betaFast: scaling.number('beta_fast', 32),
        betaSlow: scaling.number('beta_slow', 1),
        truncate: scaling.flag('truncate', true),
      };
    }
    default:
      throw scaling.error(`RoPE type ${type} is not supported (default, linear, llama3 and yarn are)`);
  }
};

interface RopeContext {
  readonly headDim: number;
  readonly context: number;
  /** Whether the family's code heeds `partial_rotary_factor`. */
  readonly partial?: boolean;
}

/** The dimensions of a head that are rotated. */
const readDimensions = (configs: readonly Config[], { headDim, partial }: RopeContext): number => {
  const named = configs.find((config) => config.has('partial_rotary_factor'));
  if (!named) return headDim;
  if (!partial) named.must('partial_rotary_factor', 1);
  const dimensions = Math.floor(headDim * named.positive('partial_rotary_factor'));
  if (dimensions < 2 || dimensions > headDim || dimensions % 2)
    throw named.error(`partial_rotary_factor rotates ${dimensions} of the ${headDim} dimensions of a head`);
  return dimensions;
};

export const readRope = (config: Config, of: RopeContext): Rope => {
  const parameters = config.inner('rope_parameters');
  const older = config.inner('rope_scaling');
  const theta = config.positive('rope_theta', 10_000);
  const nested = parameters ?? older;
  // The type comes first: configs of an unsupported type often set partial_rotary_factor too.
  const scaling: RopeScaling = nested ? readScaling(nested, of.context) : { type: 'default' };
  const dimensions = readDimensions(nested ? [nested, config] : [config], of);
  const base = nested?.positive('rope_theta', theta) ?? theta;
  nested?.finish();
  return { base, dimensions, scaling };
};
