// A model family as data. The loader's checklist, the shapes, the device matrices, the memory estimate and the forward
// pass (forward/interpreter.ts) all follow from this one declaration.
import { type DeltaShape, deltaChannels } from '../kernels/delta-net/delta-shape.ts';
import type { Rope } from './forward/rope-table.ts';

export interface Sizes {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headDim: number;
  /** Elements of a head on the device: the next multiple of eight. Those past `headDim` are zero. */
  readonly paddedHead: number;
  readonly feedForward: number;
  readonly vocabulary: number;
  /** Most positions the model was made for. */
  readonly context: number;
}

export interface Attention {
  readonly kind: 'attention';
  readonly causal: boolean;
  /**
   * RMS norm of queries and keys: before RoPE of every head by itself (Qwen3) or of all heads as one row (OLMo 2), or of
   * every head after RoPE (Hunyuan).
   */
  readonly queryKeyNorm: 'head' | 'row' | 'rotated head' | null;
  readonly bias: { readonly queryKeyValue: boolean; readonly output: boolean };
  /** A row at position p sees positions p − window + 1 … p; null sees all. */
  readonly window: number | null;
  /** Null: queries and keys are not rotated (every fourth layer of SmolLM3). Layers with equal RoPE share the object. */
  readonly rope: Rope | null;
  /**
   * Which elements of a head RoPE rotates together, in the checkpoint: 2i and 2i + 1. Absent: i and i + half, as the
   * kernels have it; the loader puts adjacent ones there.
   */
  readonly pairs?: 'adjacent';
  /** Multiplies the scores: headDim^-½, unless the family says otherwise. */
  readonly scale: number;
  /** Scores become c·tanh(score / c) before the mask (Gemma 2). */
  readonly softCap: number | null;
  /**
   * Queries, keys and values lie in one tensor by key head: the queries that read it, its key, its value (InternLM2,
   * GPT-NeoX).
   * Absent: the rows of all queries, of all keys and of all values, in tensors of their own or one after the other.
   */
  readonly grouped?: true;
  /** What multiplies the output before its projection; its rows follow those of each head's query (Qwen3.5). */
  readonly gate: 'sigmoid' | null;
}

/** out(C · conv(B · u)) of (B, C, u) = in(x): a causal depthwise convolution of so many taps (LFM2). */
export interface Convolution {
  readonly kind: 'convolution';
  /** The row itself is one of them. */
  readonly taps: number;
  /** Of the convolution and of both projections. */
  readonly bias: boolean;
}

/** A state in place of keys and values, which each row changes by the gated delta rule (Qwen3.5). */
export interface DeltaNet {
  readonly kind: 'delta-net';
  /** Of the convolution over queries, keys and values. */
  readonly taps: number;
  readonly shape: DeltaShape;
}

/** What mixes a row with those before it. */
export type Mixer = Attention | Convolution | DeltaNet;

/**
 * `gated`: down(activation(gate(x)) · up(x)). `plain`: down(activation(up(x))) (GPT-2). `gelu` is its tanh form,
 * `exact-gelu` that of the error function. `bias`: of all projections.
 */
export type FeedForward =
  | { readonly kind: 'gated'; readonly activation: 'silu' | 'gelu'; readonly bias: boolean }
  | { readonly kind: 'plain'; readonly activation: 'gelu' | 'exact-gelu'; readonly bias: boolean };

/**
 * Of whole rows. `rms`: x / rms(x) · weight; `offset` is added to the weights when they are loaded: 1 where a file
 * stores w for 1 + w (Gemma). `layer`: (x − mean) / deviation · weight, and a bias where the family has one.
 */
export type Norm =
  | { readonly kind: 'rms'; readonly epsilon: number; readonly offset: number }
  | { readonly kind: 'layer'; readonly epsilon: number; readonly bias: boolean };

export interface Block {
  readonly mixer: Mixer;
  readonly feedForward: FeedForward;
  /** Where norms stand: before the mixer and the feed-forward part, after each (OLMo 2), or both (Gemma). */
  readonly norms: 'before' | 'after' | 'both';
  /**
   * The feed-forward part reads the same stream as the mixer, through a norm of its own (GPT-NeoX) or through the mixer's
   * (Phi). Absent: it reads what the mixer has added to. Its norms stand before.
   */
  readonly parallel?: 'own norm' | 'shared norm' | undefined;
  /** Multiplies what the mixer and the feed-forward part add to the stream (Granite). */
  readonly residualScale: number;
}

export type WeightName =
  | 'embedding'
  | 'positions'
  | 'attentionNorm'
  | 'attentionNormBias'
  | 'query'
  | 'key'
  | 'value'
  | 'queryBias'
  | 'keyBias'
  | 'valueBias'
  | 'queryNorm'
  | 'keyNorm'
  | 'output'
  | 'outputBias'
  | 'convolutionInput'
  | 'convolutionInputBias'
  | 'convolution'
  | 'convolutionBias'
  | 'convolutionOutput'
  | 'convolutionOutputBias'
  | 'outputGate'
  | 'outputGateBias'
  | 'deltaInput'
  | 'deltaGate'
  | 'deltaRate'
  | 'deltaDecay'
  | 'decayLog'
  | 'decayBias'
  | 'deltaNorm'
  | 'deltaOutput'
  | 'attentionPostNorm'
  | 'feedForwardNorm'
  | 'feedForwardNormBias'
  | 'gate'
  | 'up'
  | 'down'
  | 'gateBias'
  | 'upBias'
  | 'downBias'
  | 'feedForwardPostNorm'
  | 'finalNorm'
  | 'finalNormBias'
  | 'head'
  | 'headBias'
  | 'fuse'
  | 'featureNorm'
  | 'embeddingNorm'
  | 'tapNorm'
  | 'markovFrom'
  | 'markovTo'
  /** Of a gated head its gate, of a recurrent one its joint projection. */
  | 'markovGate'
  | 'markovGateBias'
  | 'confidence'
  | 'confidenceBias';

/** What a drafter reads of its target: output streams of some layers, concatenated and projected to its own width. */
export interface Features {
  /** Layers of the target; which ones they are may depend on how many it has (families/dflash.ts). */
  readonly count: number;
  /**
   * `keys`: normed, and every block makes keys and values of them; they take no other part (DFlash).
   * `stream`: they are the residual stream, which the first block reads together with the token's embedding,
   * each with a norm of its own (EAGLE-3).
   * `joined`: not projected before, but with the token's embedding, each normed, to become the stream (Qwen3.5's MTP).
   */
  readonly as: 'keys' | 'stream' | 'joined';
  /** Norms before the projection: one over all taps of a row side by side, or one for each tap. Absent: none. */
  readonly tapNorms?: 'together' | 'each' | undefined;
  /** Of `stream`: the first block adds to the normed feature instead of the feature itself. */
  readonly normedResidual?: boolean;
  /** The next draft reads the output after the final norm instead of before it. */
  readonly feedsBackNormed?: boolean;
}

/**
 * The heads of a DSpark drafter. The Markov head corrects a row's logits by a bias of rank `rank`, made from the token
 * before the one that the row drafts. The confidence head estimates the probability that a draft is accepted.
 */
export interface MarkovHeads {
  /** `gated` and `rnn` also read the row's hidden state. Null: the logits stay as they are. */
  readonly markov: { readonly kind: 'vanilla' | 'gated' | 'rnn'; readonly rank: number } | null;
  /** What it reads: the hidden state alone, or also the embedding of the token before. Null: there is none. */
  readonly confidence: 'hidden' | 'hidden and token' | null;
}

export interface Architecture {
  readonly family: string;
  readonly sizes: Sizes;
  readonly blocks: readonly Block[];
  /** `target`: the matrix of the model that a drafter drafts for. `scale` multiplies the embeddings. */
  readonly input: {
    readonly embedding: 'own' | 'target';
    readonly features: Features | null;
    readonly scale: number;
    /** What the embedding looks up is scaled already (Gemma). A drafter with this reads its target's embedding so. */
    readonly scaleInside?: boolean;
    /** A learned row for each position is added (GPT-2). */
    readonly positions?: 'learned';
  };
  /** `tied` reads the embedding matrix again. */
  readonly head: 'tied' | 'own' | 'target';
  /**
   * The target's vocabulary, where the head covers only a part of it (EAGLE-3). Null: the head covers its vocabulary.
   */
  readonly spreadOver: number | null;
  /**
   * What becomes of the head's products: a bias is added where there is one (Phi), they are multiplied by `scale`, then
   * c·tanh(logit / c) with c = `softCap`.
   */
  readonly logits: { readonly scale: number; readonly softCap: number | null; readonly bias?: true };
  /** Only of a DSpark drafter. */
  readonly heads?: MarkovHeads;
  readonly norm: Norm;
  /**
   * The checkpoint's tensor for each weight; `{i}` is the layer. Several weights may name one tensor: their rows lie in
   * it one after the other, in the order of `blockWeights` (query, key, value; gate, up).
   */
  readonly names: Readonly<Partial<Record<WeightName, string>>>;
  /** Matrices of the blocks are stored with a row for each input (GPT-2). */
  readonly transposed?: boolean;
  /** How the names of tensors begin that belong to parts which the engine does not run, such as a vision tower. */
  readonly otherParts?: readonly string[];
}

/** A weight that the architecture needs, and the shape it must have. */
export interface WeightSpec {
  readonly name: WeightName;
  /** Null outside the blocks. */
  readonly layer: number | null;
  /** The tensor that holds it, and its first row there. */
  readonly checkpoint: string;
  readonly firstRow: number;
  readonly shape: readonly number[];
  /** Added to every value. */
  readonly offset: number;
  /** The tensor's rows are its columns. */
  readonly transposed: boolean;
  /** Where the rows are not in one piece: of every `of` rows of the tensor, `rows` from `from` on are this weight's. */
  readonly stripes?: { readonly rows: number; readonly from: number; readonly of: number };
  /** Of every so many rows: which row of the tensor is the first, the second … of the weight. */
  readonly order?: readonly number[];
  /** Its rows, or its columns, are heads, which are longer on the device. */
  readonly padded?: Padding;
}

/** Of `from` elements of a head on, `to` are there on the device. */
export interface Padding {
  readonly axis: 'rows' | 'columns';
  readonly from: number;
  readonly to: number;
}

/** A tensor of the checkpoint, and the weights that it holds. */
export interface TensorSpec {
  readonly checkpoint: string;
  readonly shape: readonly number[];
  readonly weights: readonly WeightSpec[];
}

/** Layers of attention; the others have no keys and values. */
export const attentionLayers = ({ blocks }: Pick<Architecture, 'blocks'>): readonly number[] =>
  blocks.flatMap(({ mixer }, layer) => (mixer.kind === 'attention' ? [layer] : []));

/** Distinct RoPEs, in the order of their first layer. */
export const ropesOf = ({ blocks }: Pick<Architecture, 'blocks'>): readonly Rope[] => [
  ...new Set(blocks.flatMap(({ mixer }) => (mixer.kind === 'attention' && mixer.rope) || [])),
];

const attentionWeights = (mixer: Attention): readonly WeightName[] => [
  'query',
  ...(mixer.gate ? (['outputGate'] as const) : []),
  'key',
  'value',
  ...(mixer.bias.queryKeyValue ? (['queryBias', 'keyBias', 'valueBias'] as const) : []),
  ...(mixer.bias.queryKeyValue && mixer.gate ? (['outputGateBias'] as const) : []),
  ...(mixer.queryKeyNorm ? (['queryNorm', 'keyNorm'] as const) : []),
  'output',
  ...(mixer.bias.output ? (['outputBias'] as const) : []),
];

const CONVOLUTION = ['convolutionInput', 'convolution', 'convolutionOutput'] as const;

const DELTA: readonly WeightName[] = [
  'deltaInput',
  'deltaGate',
  'deltaRate',
  'deltaDecay',
  'convolution',
  'decayLog',
  'decayBias',
  'deltaNorm',
  'deltaOutput',
];

const mixerWeights = (mixer: Mixer): readonly WeightName[] => {
  switch (mixer.kind) {
    case 'attention':
      return attentionWeights(mixer);
    case 'convolution':
      return mixer.bias ? CONVOLUTION.flatMap((name) => [name, `${name}Bias`] as const) : CONVOLUTION;
    case 'delta-net':
      return DELTA;
  }
};

/** Of a delta net. */
const deltaSizes = (hidden: number, shape: DeltaShape): Readonly<Partial<Record<WeightName, readonly number[]>>> => {
  const values = shape.valueHeads * shape.valueDim;
  return {
    deltaInput: [deltaChannels(shape), hidden],
    deltaGate: [values, hidden],
    deltaRate: [shape.valueHeads, hidden],
    deltaDecay: [shape.valueHeads, hidden],
    decayLog: [shape.valueHeads],
    decayBias: [shape.valueHeads],
    deltaNorm: [shape.valueDim],
    deltaOutput: [hidden, values],
  };
};

type NormName = 'attentionNorm' | 'feedForwardNorm' | 'finalNorm';

const normWeights = (norm: Norm, name: NormName): readonly WeightName[] =>
  norm.kind === 'layer' && norm.bias ? [name, `${name}Bias`] : [name];

const blockWeights = ({ mixer, feedForward, norms, parallel }: Block, norm: Norm): WeightName[] => [
  ...(norms === 'after' ? [] : normWeights(norm, 'attentionNorm')),
  ...mixerWeights(mixer),
  ...(norms === 'before' ? [] : (['attentionPostNorm'] as const)),
  ...(norms === 'after' || parallel === 'shared norm' ? [] : normWeights(norm, 'feedForwardNorm')),
  ...(feedForward.kind === 'gated' ? (['gate'] as const) : []),
  'up',
  'down',
  ...(feedForward.bias && feedForward.kind === 'gated' ? (['gateBias'] as const) : []),
  ...(feedForward.bias ? (['upBias', 'downBias'] as const) : []),
  ...(norms === 'before' ? [] : (['feedForwardPostNorm'] as const)),
];

/** The weights that an RMS norm's offset is added to. */
const NORMS: ReadonlySet<WeightName> = new Set<WeightName>([
  'attentionNorm',
  'attentionPostNorm',
  'feedForwardNorm',
  'feedForwardPostNorm',
  'queryNorm',
  'keyNorm',
  'finalNorm',
  'featureNorm',
  'embeddingNorm',
]);

const tapNormTensors = (features: Features | null): number => {
  if (!features?.tapNorms) return 0;
  return features.tapNorms === 'together' ? 1 : features.count;
};

/** Adjacent pairs of a head as the halves that the kernels rotate; elements that are not rotated stay. */
const halves = (headDim: number, rotated: number): readonly number[] =>
  Array.from({ length: headDim }, (_, i) => {
    if (i >= rotated) return i;
    return i < rotated / 2 ? 2 * i : 2 * i - rotated + 1;
  });

/** The weights whose rows, or values, are elements of rotated heads. */
const ROTATED: ReadonlySet<WeightName> = new Set<WeightName>([
  'query',
  'key',
  'queryBias',
  'keyBias',
  'queryNorm',
  'keyNorm',
]);

/** The weights whose rows, or values, are elements of heads. */
const HEADED: ReadonlySet<WeightName> = new Set<WeightName>([
  ...ROTATED,
  'value',
  'valueBias',
  'outputGate',
  'outputGateBias',
]);

const paddingOf = (name: WeightName, { headDim: from, paddedHead: to }: Sizes): Padding | undefined => {
  if (from === to) return undefined;
  if (name === 'output') return { axis: 'columns', from, to };
  return HEADED.has(name) ? { axis: 'rows', from, to } : undefined;
};

/** Where a group's queries, key and value begin in a tensor that is grouped by key heads. */
const groupRows = (name: WeightName, { heads, keyValueHeads, headDim }: Sizes): WeightSpec['stripes'] => {
  const queries = (heads / keyValueHeads) * headDim;
  const of = queries + 2 * headDim;
  if (name === 'query' || name === 'queryBias') return { rows: queries, from: 0, of };
  if (name === 'key' || name === 'keyBias') return { rows: headDim, from: queries, of };
  return name === 'value' || name === 'valueBias' ? { rows: headDim, from: queries + headDim, of } : undefined;
};

/** Every weight with its shape. */
export const weightSpecs = (architecture: Architecture): readonly WeightSpec[] => {
  const { sizes, blocks, input, head, heads: markovHeads, norm, spreadOver, names } = architecture;
  const { hidden, heads, keyValueHeads, headDim, feedForward, vocabulary } = sizes;
  const queries = heads * headDim;
  const keys = keyValueHeads * headDim;
  const { embedding, features } = input;
  const read = features?.as === 'stream' ? 2 * hidden : hidden;
  const { markov = null, confidence = null } = markovHeads ?? {};
  const rank = markov?.rank ?? 0;
  const joint = markov?.kind === 'rnn' ? [3 * rank, 2 * rank + hidden] : [rank, rank + hidden];
  const shapes: Readonly<Partial<Record<WeightName, readonly number[]>>> = {
    embedding: [spreadOver ?? vocabulary, hidden],
    positions: [sizes.context, hidden],
    attentionNorm: [hidden],
    attentionNormBias: [hidden],
    query: [queries, read],
    outputGate: [queries, read],
    key: [keys, read],
    value: [keys, read],
    queryBias: [queries],
    outputGateBias: [queries],
    keyBias: [keys],
    valueBias: [keys],
    output: [hidden, queries],
    outputBias: [hidden],
    convolutionInput: [3 * hidden, hidden],
    convolutionInputBias: [3 * hidden],
    convolutionBias: [hidden],
    convolutionOutput: [hidden, hidden],
    convolutionOutputBias: [hidden],
    attentionPostNorm: [hidden],
    feedForwardNorm: [hidden],
    feedForwardNormBias: [hidden],
    gate: [feedForward, hidden],
    up: [feedForward, hidden],
    down: [hidden, feedForward],
    gateBias: [feedForward],
    upBias: [feedForward],
    downBias: [hidden],
    feedForwardPostNorm: [hidden],
    finalNorm: [hidden],
    finalNormBias: [hidden],
    head: [vocabulary, hidden],
    headBias: [vocabulary],
    fuse: [hidden, (features?.as === 'joined' ? 2 : (features?.count ?? 0)) * hidden],
    featureNorm: [hidden],
    embeddingNorm: [hidden],
    tapNorm: [(features?.tapNorms === 'together' ? (features?.count ?? 0) : 1) * hidden],
    markovFrom: [spreadOver ?? vocabulary, rank],
    markovTo: [vocabulary, rank],
    markovGate: joint,
    markovGateBias: [joint[0] as number],
    confidence: [1, hidden + (confidence === 'hidden and token' ? rank : 0)],
    confidenceBias: [1],
  };
  /** The shapes of some weights depend on the mixer that they belong to. */
  const shapeOf = (name: WeightName, layer: number | null): readonly number[] => {
    const mixer = layer === null ? undefined : blocks[layer]?.mixer;
    const own = mixer?.kind === 'delta-net' ? deltaSizes(hidden, mixer.shape)[name] : undefined;
    if (own) return own;
    if (name === 'convolution' && mixer?.kind === 'convolution') return [hidden, 1, mixer.taps];
    if (name === 'convolution' && mixer?.kind === 'delta-net') return [deltaChannels(mixer.shape), 1, mixer.taps];
    if ((name === 'queryNorm' || name === 'keyNorm') && mixer?.kind === 'attention')
      return [mixer.queryKeyNorm !== 'row' ? headDim : name === 'queryNorm' ? queries : keys];
    return shapes[name] as readonly number[];
  };
  /** Rows of each tensor that earlier weights have taken. */
  const taken = new Map<string, number>();
  const spec = (name: WeightName, layer: number | null, index = layer): WeightSpec => {
    const checkpoint = (names[name] ?? name).replace('{i}', `${index}`);
    const shape = shapeOf(name, layer);
    const firstRow = taken.get(checkpoint) ?? 0;
    taken.set(checkpoint, firstRow + (shape[0] as number));
    const offset = norm.kind === 'rms' && NORMS.has(name) ? norm.offset : 0;
    const transposed = architecture.transposed === true && layer !== null && shape.length === 2;
    const padded = paddingOf(name, sizes);
    const plain = { name, layer, checkpoint, firstRow, shape, offset, transposed, ...(padded && { padded }) };
    // Where a tensor holds queries and gates, a head's gate follows the same head's query.
    const mixer = layer === null ? undefined : blocks[layer]?.mixer;
    if (mixer?.kind === 'attention' && mixer.pairs && mixer.rope && ROTATED.has(name))
      return { ...plain, order: halves(headDim, mixer.rope.dimensions) };
    const stripes = mixer?.kind === 'attention' && mixer.grouped ? groupRows(name, sizes) : undefined;
    if (stripes) return { ...plain, firstRow: 0, stripes };
    const shared = mixer?.kind === 'attention' && mixer.gate !== null && names.query === names.outputGate;
    const gate = name === 'outputGate' || name === 'outputGateBias';
    if (!shared || (name !== 'query' && name !== 'queryBias' && !gate)) return plain;
    const from = gate ? headDim : 0;
    return { ...plain, firstRow: 0, stripes: { rows: headDim, from, of: 2 * headDim } };
  };
  return [
    ...(embedding === 'own' ? [spec('embedding', null)] : []),
    ...(input.positions ? [spec('positions', null)] : []),
    // One weight, of one tensor or of one for each tap.
    ...Array.from({ length: tapNormTensors(features) }, (_, tap) => spec('tapNorm', null, tap)),
    ...(features ? [spec('fuse', null), spec('featureNorm', null)] : []),
    ...(features?.as === 'joined' ? [spec('embeddingNorm', null)] : []),
    ...blocks.flatMap((block, i) => blockWeights(block, norm).map((name) => spec(name, i))),
    ...normWeights(norm, 'finalNorm').map((name) => spec(name, null)),
    ...(head === 'own' ? [spec('head', null)] : []),
    ...(architecture.logits.bias ? [spec('headBias', null)] : []),
    ...(markov ? [spec('markovFrom', null), spec('markovTo', null)] : []),
    ...(markov && markov.kind !== 'vanilla' ? [spec('markovGate', null), spec('markovGateBias', null)] : []),
    ...(confidence ? [spec('confidence', null), spec('confidenceBias', null)] : []),
  ];
};

/** The tensors that a checkpoint must have: the loader's checklist. */
export const tensorSpecs = (architecture: Architecture): readonly TensorSpec[] => {
  const tensors = new Map<string, TensorSpec>();
  for (const weight of weightSpecs(architecture)) {
    const { checkpoint, shape } = weight;
    const known = tensors.get(checkpoint);
    const [rows, ...rest] = shape as [number, ...number[]];
    tensors.set(checkpoint, {
      checkpoint,
      shape: [(known?.shape[0] ?? 0) + rows, ...rest],
      weights: [...(known?.weights ?? []), weight],
    });
  }
  return [...tensors.values()].map((tensor) =>
    tensor.weights[0]?.transposed ? { ...tensor, shape: tensor.shape.toReversed() } : tensor,
  );
};

/** The name of a weight for people and for maps: `3.query`, `finalNorm`. */
export const weightKey = ({ name, layer }: { readonly name: string; readonly layer: number | null }): string =>
  layer === null ? name : `${layer}.${name}`;
