// Reads GGUF metadata as the config.json that Hugging Face would have published.
import { modelKind } from '../../base/model-kinds.ts';
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import type { GgufHeader, GgufValue } from './container.ts';
import { DRAFTER_FAMILIES, FORKS } from './drafters.ts';
import { FAMILIES, type Facts, type GgufFamily, LONGROPE_FACTORS } from './families.ts';
import { Fields } from './fields.ts';
import { specialId } from './tokenizer.ts';

const ALL = { ...FAMILIES, ...DRAFTER_FAMILIES };

/** The family of a file. */
export const ggufFamily = (metadata: ReadonlyMap<string, GgufValue>): GgufFamily => {
  const name = metadata.get('general.architecture');
  if (name === undefined) throw bad('GGUF metadata lacks general.architecture');
  if (typeof name !== 'string') throw bad(`general.architecture is ${shown(name)}, expected a text`);
  if (FORKS.includes(name))
    throw bad(
      `the architecture ${name} is a fork's, with other tensors than those of dflash`,
      'Convert the drafter again with llama.cpp itself: its DFlash and DSpark files are both of architecture dflash.',
    );
  if (!Object.hasOwn(ALL, name)) {
    const kind = modelKind(name);
    throw bad(
      `the architecture ${name} is not supported${kind ? `: ${kind.what}` : ''}`,
      kind?.hint ?? `Supported in GGUF: ${Object.keys(ALL).join(', ')}.`,
    );
  }
  return ALL[name] as GgufFamily;
};

export const ggufConfig = ({ metadata, tensors }: GgufHeader): Record<string, unknown> => {
  const family = ggufFamily(metadata);
  const name = metadata.get('general.architecture') as string;
  const fields = new Fields(metadata, name);
  const heads = fields.count('attention.head_count');
  const hidden = fields.count('embedding_length');
  const shapes = new Map(tensors.map((tensor) => [tensor.name, tensor.shape]));
  const blocks = fields.count('block_count');
  if (tensors.length === 0)
    throw bad('the file holds a tokenizer and no weights', 'It serves `outrider tokenize` and `outrider chat` alone.');
  // A loop over the layers must not run four billion times. A file of predictors alone counts the other blocks too.
  if (blocks > Math.max(tensors.length, family.predictors ? 256 : 0))
    throw bad(`${name}.block_count is ${blocks}, and there are ${tensors.length} tensors`);
  // Blocks that predict several tokens at once come last; only a drafter runs them.
  const predictors = family.predictors ? (fields.optional('nextn_predict_layers') ?? 0) : 0;
  const layers = blocks - predictors;
  if (!Number.isInteger(layers) || layers < 1 || layers > blocks)
    throw bad(`${name}.block_count is ${blocks}, and nextn_predict_layers ${predictors}: that leaves ${layers} layers`);
  const facts: Facts = { ...headSizes(fields, hidden / heads, family.partial ?? false), hidden, heads, layers, shapes };
  const config = {
    architectures: [family.architecture],
    vocab_size: shapes.get('token_embd.weight')?.[0] ?? fields.optional('vocab_size'),
    hidden_size: hidden,
    intermediate_size: fields.count('feed_forward_length'),
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: keyValueHeads(fields, heads),
    head_dim: facts.headDim,
    hidden_act: 'silu',
    ...(family.layerNorm === undefined
      ? {
          rms_norm_eps: fields.positive(
            'attention.layer_norm_rms_epsilon',
            family.epsilon ? fields.optional(family.epsilon) : undefined,
          ),
        }
      : { [family.layerNorm]: fields.positive('attention.layer_norm_epsilon') }),
    rope_theta: fields.positive('rope.freq_base', 10_000),
    rope_scaling: ropeScaling(fields, family),
    max_position_embeddings: fields.count('context_length'),
    tie_word_embeddings: !shapes.has('output.weight'),
    bos_token_id: specialId(metadata, 'bos') ?? null,
    eos_token_id: specialId(metadata, 'eos') ?? null,
    ...(predictors > 0 && { mtp_num_hidden_layers: predictors }),
    ...family.config(fields, facts),
  };
  if (config.vocab_size === undefined) throw bad(`GGUF metadata lacks ${name}.vocab_size`);
  const attention = fields.optional('rope.scaling.attn_factor') ?? 1;
  if (attention !== 1 && config.rope_scaling?.attention_factor === undefined)
    throw bad(`rope.scaling.attn_factor ${attention} is not supported without YaRN or longrope`);
  const factors = LONGROPE_FACTORS.find((tensor) => shapes.has(tensor));
  if (config.rope_scaling?.rope_type !== 'longrope' && (factors || fields.text('rope.scaling.type') === 'longrope'))
    throw bad(
      `${factors ?? 'rope.scaling.type longrope'} is not supported for the architecture ${name}`,
      'Of the architectures that Outrider reads, only phi3 and minicpm may have longrope.',
    );
  if (facts.rotated !== facts.headDim && !family.partial)
    throw bad(
      `rope.dimension_count is ${facts.rotated} of a head of ${facts.headDim}: partial rotation is not supported`,
    );
  fields.refuseOthers();
  return config;
};

/** Layers without attention have 0. */
const keyValueHeads = (fields: Fields, heads: number): number => {
  const counts = fields.list('attention.head_count_kv')?.filter((count) => count !== 0);
  const [first] = counts ?? [];
  if (typeof first === 'number' && counts?.every((count) => count === first)) return first;
  const stated = fields.optional('attention.head_count_kv') !== undefined;
  return stated ? fields.count('attention.head_count_kv') : heads;
};

const headSizes = (fields: Fields, byWidth: number, partial: boolean): Pick<Facts, 'headDim' | 'rotated'> => {
  const key = fields.optional('attention.key_length');
  const value = fields.optional('attention.value_length');
  const dimensions = fields.optional('rope.dimension_count');
  const headDim = key ?? (partial ? byWidth : (dimensions ?? byWidth));
  if (value !== undefined && value !== headDim)
    throw bad(`attention.value_length is ${value} and key_length ${headDim}: Outrider needs them equal`);
  if (!Number.isInteger(headDim) || headDim < 2 || headDim % 2)
    throw bad(
      `a head would have ${headDim} elements, expected an even whole number`,
      'Its size is attention.key_length, else rope.dimension_count, else embedding_length / attention.head_count.',
    );
  return { headDim, rotated: dimensions ?? headDim };
};

/** Scaling by a tensor is not here: llama3's is rope_freqs.weight, longrope's rope_factors_long and _short. */
const ropeScaling = (fields: Fields, family: GgufFamily): Record<string, unknown> | null => {
  const old = fields.optional('rope.scale_linear');
  const type = fields.text('rope.scaling.type') ?? 'linear';
  const factor = fields.optional('rope.scaling.factor') ?? old;
  const original = fields.optional('rope.scaling.original_context_length');
  const attention = fields.optional('rope.scaling.attn_factor') ?? 1;
  const stated = fields.optional('rope.scaling.yarn_attn_factor');
  // Hugging Face's mscale_all_dim, with an mscale of 1 (llama-context.cpp).
  const all = family.logMultiplier ? fields.optional('rope.scaling.yarn_log_multiplier') : undefined;
  const fast = fields.optional('rope.scaling.yarn_beta_fast');
  const slow = fields.optional('rope.scaling.yarn_beta_slow');
  const mixed = fields.optional('rope.scaling.yarn_ext_factor') ?? -1; // llama.cpp takes what is negative as absent
  if (mixed >= 0 && mixed !== (type === 'yarn' ? 1 : 0))
    throw bad(`rope.scaling.yarn_ext_factor is ${mixed}: a RoPE that is YaRN in part is not supported`);
  if (!['none', 'linear', 'yarn', 'longrope'].includes(type))
    throw bad(`rope.scaling.type ${type} is not supported`, 'Supported: none, linear, yarn.');
  if (type === 'none' || !factor || factor === 1) return null; // 0 says nothing, as in llama.cpp
  if (factor < 0) throw bad(`rope.scaling.factor is ${factor}`);
  if (type === 'linear') return { rope_type: 'linear', factor };
  if (type !== 'yarn') throw bad(`rope.scaling.type ${type} is not supported`, 'Supported: none, linear, yarn.');
  return {
    rope_type: 'yarn',
    factor,
    ...(original === undefined ? {} : { original_max_position_embeddings: original }),
    // llama.cpp's converter writes Hugging Face's factor as yarn_attn_factor (conversion/base.py). Without it the factor
    // is YaRN's own. llama.cpp multiplies by attn_factor (llama-context.cpp).
    ...(all
      ? { mscale: 1, mscale_all_dim: all }
      : { attention_factor: attention * (stated ?? 0.1 * Math.log(Math.max(1, factor)) + 1) }),
    ...(fast === undefined ? {} : { beta_fast: fast }),
    ...(slow === undefined ? {} : { beta_slow: slow }),
  };
};
