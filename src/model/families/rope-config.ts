// Reads RoPE from a config in both published layouts: transformers 5 (`rope_parameters`) and transformers 4
// (`rope_theta` and `rope_scaling`, whose type may be called `type`).
import type { OutriderError } from '../../base/errors.ts';
import { longRopeScale, type Rope, type RopeScaling, yarnScale } from '../forward/rope-table.ts';
import type { Config } from './config.ts';

interface RopeContext {
  readonly headDim: number;
  readonly context: number;
  /** Where the family's code heeds `partial_rotary_factor`: what it is where the config is silent. */
  readonly partial?: number;
  /** Fields of the RoPE's own that change nothing here. */
  readonly unused?: readonly string[];
  /** A dynamic RoPE with a fixed `alpha`, which stretches the base (Hunyuan). */
  readonly alpha?: boolean;
  /** Stated by kind of layer, where transformers 5.23 looks for YaRN's `truncate` in a place that has none. */
  readonly byLayer?: boolean;
  /** The family knows longrope. */
  readonly longrope?: boolean;
  /** The context before scaling where it is stated outside the RoPE's own fields, or the family knows it. */
  readonly original?: number | null;
}

/** How a head is divided among the three positions of an image's patch, which are one and the same in text. */
export const SECTIONS = ['mrope_interleaved', 'mrope_section'];

/** The context before scaling. As in transformers, a value outside the RoPE's own fields holds. */
const readOriginal = (scaling: Config, { context, original }: RopeContext): number => {
  const own = scaling.count('original_max_position_embeddings', context);
  return original ?? own;
};

/** Without factors they are tensors of the file (GGUF). */
const readLongRope = (scaling: Config, of: RopeContext): RopeScaling => {
  const originalContext = readOriginal(scaling, of);
  const factor = scaling.positive('factor', of.context / originalContext);
  return {
    type: 'longrope',
    originalContext,
    attentionFactor: scaling.number('attention_factor', longRopeScale(factor, originalContext)),
    short: scaling.numbers('short_factor'),
    long: scaling.numbers('long_factor'),
  };
};

/** What Phi-3's first configs called longrope. */
const OLDER_LONGROPE = ['su', 'yarn'];

const refusedType = (scaling: Config, type: string): OutriderError =>
  scaling.error(`RoPE type ${type} is not supported (default, linear, dynamic, llama3 and yarn are)`);

const readScaling = (scaling: Config, of: RopeContext): RopeScaling => {
  const type = scaling.text('rope_type', scaling.text('type', 'default'));
  if (of.longrope && (type === 'longrope' || OLDER_LONGROPE.includes(type))) return readLongRope(scaling, of);
  switch (type) {
    case 'default':
      return { type };
    case 'mrope':
      if (!of.unused?.includes('mrope_section')) throw refusedType(scaling, type);
      return { type: 'default' };
    case 'linear':
      return { type, factor: scaling.positive('factor') };
    case 'dynamic':
      if (of.alpha && scaling.has('alpha')) scaling.ignore('beta_fast', 'beta_slow', 'mscale', 'mscale_all_dim');
      // It scales only texts longer than max_position_embeddings, and no text is longer here.
      scaling.positive('factor');
      scaling.ignore('original_max_position_embeddings');
      return { type: 'default' };
    case 'llama3':
      return {
        type,
        factor: scaling.positive('factor'),
        lowFrequencyFactor: scaling.number('low_freq_factor'),
        highFrequencyFactor: scaling.number('high_freq_factor'),
        originalContext: readOriginal(scaling, of),
      };
    case 'yarn': {
      const factor = scaling.positive('factor');
      const [mscale, all] = [scaling.number('mscale', 0), scaling.number('mscale_all_dim', 0)];
      const implied = mscale && all ? yarnScale(factor, mscale) / yarnScale(factor, all) : yarnScale(factor);
      return {
        type,
        factor,
        originalContext: readOriginal(scaling, of),
        attentionFactor: scaling.number('attention_factor', implied),
        betaFast: scaling.number('beta_fast', 32) || 32, // 0 is the default too, as in transformers
        betaSlow: scaling.number('beta_slow', 1) || 1,
        truncate: scaling.flag('truncate', true) || of.byLayer === true,
      };
    }
    default:
      throw refusedType(scaling, type);
  }
};

/** The dimensions of a head that are rotated. Of several configs that state it, the first one holds. */
const readDimensions = (configs: readonly Config[], { headDim, partial }: RopeContext): number => {
  const [named, ...others] = configs.filter((config) => config.has('partial_rotary_factor'));
  if (partial === undefined) named?.must('partial_rotary_factor', 1);
  // Null is not silent: it means the whole head.
  const whole = configs.some((config) => config.cap('partial_rotary_factor', 1) === null);
  const factor = named?.positive('partial_rotary_factor') ?? (whole ? 1 : (partial ?? 1));
  for (const other of others)
    if (other.positive('partial_rotary_factor') !== factor)
      throw other.error(`partial_rotary_factor is not ${factor}, as the RoPE's own fields have it`);
  const dimensions = Math.floor(headDim * factor);
  if (dimensions < 2 || dimensions > headDim || dimensions % 2)
    throw (named ?? (configs[0] as Config)).error(
      `partial_rotary_factor rotates ${dimensions} of the ${headDim} dimensions of a head`,
    );
  return dimensions;
};

/** One RoPE, from the object that describes it; `outer` may state the part of a head that is rotated. */
export const readRopeIn = (nested: Config, of: RopeContext, theta: number, outer: readonly Config[] = []): Rope => {
  // The type comes first: configs of an unsupported type often set partial_rotary_factor too.
  const scaling = readScaling(nested, of);
  const dimensions = readDimensions([nested, ...outer], of);
  if (scaling.type === 'longrope')
    for (const factors of [scaling.short, scaling.long])
      if (factors && (factors.length !== dimensions / 2 || factors.some((factor) => factor <= 0)))
        throw nested.error(`longrope needs ${dimensions / 2} positive factors, found ${factors.length}`);
  const base = nested.positive('rope_theta', theta);
  const alpha = of.alpha && nested.text('rope_type', nested.text('type', 'default')) === 'dynamic';
  const stretched = alpha ? nested.positive('alpha', 1) ** (dimensions / (dimensions - 2)) : 1;
  nested.ignore(...(of.unused ?? []));
  nested.ignore('finetuned'); // how the model was made
  nested.finish();
  return { base: base * stretched, dimensions, scaling };
};

/** A config may state its RoPE in both layouts. Of two that disagree neither is sure to be the one that was meant. */
export const refuseOther = (config: Config, rope: Rope, older: Rope): void => {
  if (JSON.stringify(rope) !== JSON.stringify(older))
    throw config.error('rope_parameters and rope_scaling disagree', 'Remove the one that does not hold.');
};

/**
 * That of layers with a window and that of the others: by kind of layer in transformers 5; in transformers 4 the scaling
 * is that of layers without a window. Its type may be called `type` here too: transformers 4 read it so, and transformers
 * 5 does elsewhere, though it leaves such a scaling out in these families; no published config has it. `localBase`, `base`: their bases where `rope_parameters` does not say.
 */
export const readLayerRopes = (
  config: Config,
  sizes: RopeContext,
  localBase: number,
  base: number,
): { readonly local: Rope; readonly global: Rope } => {
  const of = { ...sizes, byLayer: true };
  const unscaled = { dimensions: of.headDim, scaling: { type: 'default' } } as const;
  const parameters = config.inner('rope_parameters');
  const [local, global] = [parameters?.inner('sliding_attention'), parameters?.inner('full_attention')];
  parameters?.finish();
  const older = config.inner('rope_scaling');
  const stated = global && readRopeIn(global, of, base);
  const scaled = older && readRopeIn(older, of, stated?.base ?? base);
  if (stated && scaled) refuseOther(config, stated, scaled);
  return {
    local: local ? readRopeIn(local, of, localBase) : { ...unscaled, base: localBase },
    global: stated ?? scaled ?? { ...unscaled, base },
  };
};

/** The RoPE of a whole model; `fallback`: its base where the config does not say. */
export const readRope = (config: Config, of: RopeContext, fallback = 10_000): Rope => {
  const theta = config.positive('rope_theta', fallback);
  const original = config.countOrNull('original_max_position_embeddings', of.original ?? null);
  const [rope, older] = ['rope_parameters', 'rope_scaling'].flatMap((name) => {
    const nested = config.inner(name);
    return nested ? [readRopeIn(nested, { ...of, original }, theta, [config])] : [];
  });
  if (rope && older) refuseOther(config, rope, older);
  return rope ?? { base: theta, dimensions: readDimensions([config], of), scaling: { type: 'default' } };
};
