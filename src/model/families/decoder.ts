// What the pre-norm decoders of the LLaMA line have in common: sizes, tensor names, tied heads. A family's file states
// only what differs.
import type { Architecture, Attention, Block, FeedForward, Norm, Sizes, WeightName } from '../architecture.ts';
import type { Rope, RopeScaling } from '../forward/rope-table.ts';
import type { Config } from './config.ts';
import { readRope } from './rope-config.ts';

/** The tensors of one layer; `at` is what stands before their names. */
export const layerNames = (at: string): Architecture['names'] => ({
  attentionNorm: `${at}.input_layernorm.weight`,
  query: `${at}.self_attn.q_proj.weight`,
  key: `${at}.self_attn.k_proj.weight`,
  value: `${at}.self_attn.v_proj.weight`,
  queryBias: `${at}.self_attn.q_proj.bias`,
  keyBias: `${at}.self_attn.k_proj.bias`,
  valueBias: `${at}.self_attn.v_proj.bias`,
  queryNorm: `${at}.self_attn.q_norm.weight`,
  keyNorm: `${at}.self_attn.k_norm.weight`,
  output: `${at}.self_attn.o_proj.weight`,
  outputBias: `${at}.self_attn.o_proj.bias`,
  feedForwardNorm: `${at}.post_attention_layernorm.weight`,
  gate: `${at}.mlp.gate_proj.weight`,
  up: `${at}.mlp.up_proj.weight`,
  down: `${at}.mlp.down_proj.weight`,
  gateBias: `${at}.mlp.gate_proj.bias`,
  upBias: `${at}.mlp.up_proj.bias`,
  downBias: `${at}.mlp.down_proj.bias`,
});

const NAMES: Architecture['names'] = {
  ...layerNames('model.layers.{i}'),
  embedding: 'model.embed_tokens.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
};

/** Names of weights that each have a bias, by the name that the two share. */
export const withBiases = (stems: Readonly<Partial<Record<WeightName, string>>>): Architecture['names'] =>
  Object.fromEntries(
    Object.entries(stems).flatMap(([weight, stem]) => [
      [weight, `${stem}.weight`],
      [`${weight}Bias`, `${stem}.bias`],
    ]),
  );

export const readLayerNorm = (config: Config, { field = 'layer_norm_eps', bias = true } = {}): Norm => ({
  kind: 'layer',
  epsilon: config.positive(field, 1e-5),
  bias,
});

/** The first is that of the error function, the others are names of its tanh form. */
const GELUS = ['gelu', 'gelu_new', 'gelu_pytorch_tanh', 'gelu_fast'];

/** A feed-forward part of two matrices. */
export const readPlain = (
  config: Config,
  { field = 'hidden_act', fallback, bias = true }: { field?: string; fallback: string; bias?: boolean },
): FeedForward => {
  const name = config.text(field, fallback);
  if (!GELUS.includes(name))
    throw config.error(`${field} = ${name} is not supported`, `Supported: ${GELUS.join(', ')}.`);
  return { kind: 'plain', activation: name === 'gelu' ? 'exact-gelu' : 'gelu', bias };
};

/** Logits that are the head's products. */
export const AS_THEY_ARE = { scale: 1, softCap: null } as const;

/** What a family's own configuration class assumes where config.json is silent. */
export interface SizeDefaults {
  readonly layers?: number;
  readonly hidden?: number;
  readonly heads?: number;
  readonly keyValueHeads?: number;
  readonly headDim?: number;
  readonly vocabulary?: number;
  readonly context?: number;
  /** The width itself, where it is not simply `intermediate_size`. */
  readonly feedForward?: number;
}

export const readSizes = (config: Config, defaults: SizeDefaults = {}): Sizes => {
  const heads = config.count('num_attention_heads', defaults.heads);
  const hidden = config.count('hidden_size', defaults.hidden);
  const headDim = config.count('head_dim', defaults.headDim ?? hidden / heads);
  const sizes = {
    layers: config.count('num_hidden_layers', defaults.layers),
    hidden,
    heads,
    keyValueHeads: config.countOrNull('num_key_value_heads', defaults.keyValueHeads ?? heads) ?? heads, // null is not absent
    headDim,
    paddedHead: Math.ceil(headDim / 8) * 8,
    feedForward: defaults.feedForward ?? config.count('intermediate_size'),
    vocabulary: config.count('vocab_size', defaults.vocabulary),
    context: config.count('max_position_embeddings', defaults.context),
  };
  if (heads % sizes.keyValueHeads !== 0)
    throw config.error(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${sizes.keyValueHeads}`);
  return sizes;
};

/** A scaled RoPE may reach further than `max_position_embeddings`, which some configs leave at the original length. */
const reach = (scaling: RopeScaling | undefined, context: number): number =>
  scaling?.type === 'yarn' ? Math.max(context, Math.floor(scaling.originalContext * scaling.factor)) : context;

/** Where a family differs from LLaMA in every layer alike, and by layer. */
export interface LayerDifferences
  extends Partial<Pick<Attention, 'causal' | 'queryKeyNorm' | 'scale' | 'softCap' | 'pairs' | 'grouped'>> {
  readonly bias?: Attention['bias'];
  /** The window of each layer; by default none has one. */
  readonly windows?: (layers: number) => readonly (number | null)[];
  /** The RoPE of each layer; by default all have the one that `readRope` reads. */
  readonly ropes?: (sizes: Sizes) => readonly (Rope | null)[];
  readonly activation?: 'silu' | 'gelu';
  readonly feedForwardBias?: boolean;
  /** One that is not gated. */
  readonly plain?: FeedForward;
  readonly norms?: Block['norms'];
  readonly parallel?: Block['parallel'];
  readonly residualScale?: number;
  /** One that is no RMS norm. */
  readonly norm?: Norm;
  readonly normOffset?: number;
  /** Of the norms, where the config does not say. */
  readonly epsilon?: number;
  readonly sizes?: SizeDefaults;
}

/** The layers and all their sizes. */
export const readLayers = (
  config: Config,
  differences: LayerDifferences,
): Pick<Architecture, 'sizes' | 'blocks' | 'norm'> => {
  const sizes = readSizes(config, differences.sizes);
  const { layers, headDim, context } = sizes;
  const ropes = differences.ropes?.(sizes) ?? Array<Rope>(layers).fill(readRope(config, { headDim, context }));
  const windows = differences.windows?.(layers) ?? [];
  const { activation = 'silu', plain, norms = 'before', parallel, residualScale = 1 } = differences;
  if (activation === 'silu' && !plain) config.must('hidden_act', 'silu', 'swish');
  // A family without biases may still say so.
  if (!differences.bias) config.must('attention_bias', false);
  if (differences.feedForwardBias === undefined && !plain) config.must('mlp_bias', false);
  config.must('rope_interleaved', false);
  return {
    sizes: { ...sizes, context: reach(ropes.find((rope) => rope)?.scaling, context) },
    blocks: ropes.map((rope, i) => ({
      mixer: {
        kind: 'attention',
        causal: differences.causal ?? true,
        queryKeyNorm: differences.queryKeyNorm ?? null,
        bias: differences.bias ?? { queryKeyValue: false, output: false },
        window: windows[i] ?? null,
        rope,
        ...(differences.pairs && { pairs: differences.pairs }),
        ...(differences.grouped && { grouped: true }),
        scale: differences.scale ?? headDim ** -0.5,
        softCap: differences.softCap ?? null,
        gate: null,
      },
      feedForward: plain ?? { kind: 'gated', activation, bias: differences.feedForwardBias ?? false },
      norms,
      ...(parallel && { parallel }),
      residualScale,
    })),
    norm: differences.norm ?? {
      kind: 'rms',
      epsilon: config.positive('rms_norm_eps', differences.epsilon ?? 1e-6),
      offset: differences.normOffset ?? 0,
    },
  };
};

export interface DecoderDifferences extends Omit<LayerDifferences, 'causal'> {
  readonly family: string;
  /** Weights whose tensor has another name, or holds several weights. */
  readonly names?: Architecture['names'];
  /** Whether embedding and head are one matrix where the config does not say; by default they are two. */
  readonly tied?: boolean;
  /** By the width of the stream. */
  readonly embeddingScale?: (hidden: number) => number;
  readonly scaleInside?: boolean;
  readonly logits?: Architecture['logits'];
}

/** Of a checkpoint that also sees images the outer config counts, whatever the inner one says. */
export const readHead = (config: Config, tied: boolean): Architecture['head'] =>
  config.flag('tie_word_embeddings', tied) ? 'tied' : 'own';

/** Reads a language model and closes the config: a field that neither this nor the family has read is an error. */
export const readDecoder = (
  config: Config,
  { family, names, tied = false, embeddingScale, scaleInside, logits, ...differences }: DecoderDifferences,
): Architecture => {
  const layers = readLayers(config, differences);
  const head = readHead(config, tied);
  config.finish();
  return {
    family,
    ...layers,
    input: {
      embedding: 'own',
      features: null,
      scale: embeddingScale?.(layers.sizes.hidden) ?? 1,
      ...(scaleInside && { scaleInside }),
    },
    head,
    spreadOver: null,
    logits: logits ?? AS_THEY_ARE,
    names: { ...NAMES, ...names },
  };
};
