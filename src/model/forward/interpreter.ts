// Walks an architecture and records its dispatches into plans; the only interpreter of a declaration. A pass is a body
// (embedding and blocks, bound to one cache) and a head (final norm and logits): prefill runs bodies, and one head of
// one row. A drafter's context is a third part (drafters/tap-queue.ts). Ten dispatches for each layer of attention: norm ·
// qkv · rope and append · attention (three) · output · norm · gate·up · down. Seven for one that convolves.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import { attentionTuning } from '../../kernels/attention/attention.ts';
import { outputGate } from '../../kernels/attention/output-gate.ts';
import { storedAs } from '../../kernels/cache/cache-precision.ts';
import { gatherRows } from '../../kernels/cache/gather-rows.ts';
import { ROW_WORDS } from '../../kernels/cache/rows.ts';
import { gatedConvolution, siluConvolution } from '../../kernels/convolution/short-convolution.ts';
import { deltaRows, deltaRule } from '../../kernels/delta-net/delta-rule.ts';
import { deltaChannels } from '../../kernels/delta-net/delta-shape.ts';
import { gatedNorm } from '../../kernels/delta-net/gated-norm.ts';
import { embed } from '../../kernels/matmul/embed.ts';
import { type Bucket, type MatmulTensors, type MatmulTuning, matmul } from '../../kernels/matmul/matmul.ts';
import { layerNorm } from '../../kernels/norm/layer-norm.ts';
import { pairNorm } from '../../kernels/norm/pair-norm.ts';
import { queryKeyNorm } from '../../kernels/norm/query-key-norm.ts';
import { rmsNorm, rmsNormAdd, rmsNormTap, rmsNormTuning } from '../../kernels/norm/rms-norm.ts';
import { ropeAppend } from '../../kernels/rope/rope-append.ts';
import { spreadLogits } from '../../kernels/sampling/spread-logits.ts';
import type { Architecture, Block } from '../architecture.ts';
import { rowsOf } from '../arena.ts';
import { type Cache, type ConvolutionCache, type DeltaCache, isHalf, type KeyValueCache } from '../cache/kv-cache.ts';
import type { RecurrentStates } from '../cache/recurrent-states.ts';
import type { Weights } from '../load/device-weights.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { type Scratch, windowsOf } from './scratch.ts';

/** A head over a part of its target's vocabulary. */
export interface Reduced {
  /** The target's token for each entry of the head. */
  readonly ids: Tensor;
  /** The entry of each token, as spread-logits.ts reads it. */
  readonly index: Tensor;
}

export interface Network {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly scratch: Scratch;
  readonly tuning: MatmulTuning;
  /** Where `architecture.spreadOver` is a number. */
  readonly reduced?: Reduced;
}

/** Logits of a row: what tokens are drawn from, or a judge's labels. */
export const outputsOf = ({ architecture, weights }: Pick<Network, 'architecture' | 'weights'>): number =>
  architecture.spreadOver ?? weights.head.rows;

type Weighted = Weights['blocks'][number];

interface Place {
  /** Rows of the pass. */
  readonly bucket: number;
  readonly layer: number;
}

const mixerAs = <T extends { readonly kind: string }, K extends T['kind']>(
  mixer: T,
  kind: K,
): Extract<T, { kind: K }> => {
  if (mixer.kind !== kind) throw new Error(`the mixer of a layer is ${mixer.kind}, expected ${kind}`);
  return mixer as Extract<T, { kind: K }>;
};

const biased = (bias: Tensor | undefined): { readonly bias?: Tensor } => (bias ? { bias } : {});

/** The norm of whole rows. */
const recordNorm = (
  plan: Plan,
  { gpu, architecture }: Network,
  tensors: { readonly input: Tensor; readonly weight: Tensor; readonly output: Tensor },
  rows: number,
): void => {
  const { norm, sizes } = architecture;
  const shape = { rows, width: sizes.hidden, epsilon: norm.epsilon };
  const tuning = rmsNormTuning(gpu);
  if (norm.kind === 'rms') rmsNorm(plan, tensors, shape, tuning);
  else layerNorm(plan, tensors, shape, { ...tuning, biased: norm.bias ? 1 : 0 });
};

/** Queries, keys and values of `input`: queries go to the scratch, keys and values to the cache. */
export const recordKeys = (
  plan: Plan,
  { gpu, architecture, weights, scratch, tuning }: Network,
  cache: Cache,
  input: Tensor,
  { bucket, layer }: Place,
): void => {
  const { heads, keyValueHeads, headDim: own, paddedHead: headDim } = architecture.sizes;
  // A mean over padded heads is smaller; device-weights.ts makes the weights of these norms smaller, too.
  const epsilon = (architecture.norm.epsilon * own) / headDim;
  const { queryKeyNorm: normed, rope } = mixerAs((architecture.blocks[layer] as Block).mixer, 'attention');
  const { mixer } = weights.blocks[layer] as Weighted;
  const { qkv: matrix, qkvBias, queryNorm, keyNorm } = mixerAs(mixer, 'attention');
  const { keys, values } = cache.layers[layer] as KeyValueCache;
  const [qkv, query] = [rowsOf(scratch.qkv, bucket), rowsOf(scratch.query, bucket)];
  matmul(plan, { input, matrix, output: qkv, ...biased(qkvBias) }, { rows: bucket, epilogue: 'store' }, tuning);
  if (normed === 'row' && queryNorm && keyNorm) {
    const [queries, keys] = [heads * headDim, keyValueHeads * headDim];
    const sizes = { rows: bucket, stride: qkv.shape.at(-1) as number, queries, keys, epsilon };
    queryKeyNorm(plan, { queryNorm, keyNorm, qkv }, sizes, rmsNormTuning(gpu));
  }
  const unused = weights.finalNorm;
  const rotated = rope?.dimensions ?? 0;
  ropeAppend(
    plan,
    {
      qkv,
      rows: scratch.rows[0] as Tensor,
      table: (rope && cache.tables.get(rope)) ?? unused,
      queryNorm: queryNorm ?? unused,
      keyNorm: keyNorm ?? unused,
      query,
      keys,
      values,
    },
    {
      rows: bucket,
      heads,
      keyValueHeads,
      headDim,
      rotated,
      epsilon,
      normed: normed === 'head' ? 1 : normed === 'rotated head' ? 2 : 0,
      ring: cache.ringOf(layer),
      stored: storedAs(cache.options.precision),
    },
    { partly: rotated < headDim ? 1 : 0 },
  );
};

/** Adds a product to the stream, normed where the block has a norm there. */
const addToStream = (
  plan: Plan,
  { gpu, architecture, weights, scratch, tuning }: Network,
  product: Omit<MatmulTensors, 'output'>,
  { bucket, layer }: Place,
  norm: 'attentionPostNorm' | 'feedForwardPostNorm',
): void => {
  const { residualScale: scale } = architecture.blocks[layer] as Block;
  const weight = (weights.blocks[layer] as Weighted)[norm];
  const [stream, normed] = [rowsOf(scratch.stream, bucket), rowsOf(scratch.normed, bucket)];
  if (!weight) {
    matmul(plan, { ...product, output: stream }, { rows: bucket, epilogue: 'add', scale }, tuning);
    return;
  }
  matmul(plan, { ...product, output: normed }, { rows: bucket, epilogue: 'store' }, tuning);
  const shape = { rows: bucket, width: architecture.sizes.hidden, epsilon: architecture.norm.epsilon, scale };
  rmsNormAdd(plan, { input: normed, weight, output: stream }, shape, rmsNormTuning(gpu));
};

/** Adds to the stream what a layer of attention makes of `input`. */
const recordAttention = (plan: Plan, network: Network, cache: Cache, input: Tensor, place: Place): void => {
  const { gpu, architecture, weights, scratch, tuning } = network;
  const { bucket, layer } = place;
  const { heads, keyValueHeads, paddedHead: headDim } = architecture.sizes;
  const { window, scale, softCap } = mixerAs((architecture.blocks[layer] as Block).mixer, 'attention');
  const { output, outputBias, gate, gateBias } = mixerAs((weights.blocks[layer] as Weighted).mixer, 'attention');
  const { keys, values } = cache.layers[layer] as KeyValueCache;
  recordKeys(plan, network, cache, input, place);
  const attending = {
    query: rowsOf(scratch.query, bucket),
    keys,
    values,
    rows: scratch.rows[windowsOf(architecture).indexOf(window)] as Tensor,
    scratch: cache.attention,
    output: rowsOf(scratch.attended, bucket),
  };
  const stored = storedAs(cache.options.precision);
  const sizes = {
    rows: bucket,
    heads,
    keyValueHeads,
    headDim,
    capacity: cache.slots,
    ring: cache.ringOf(layer),
  } as const;
  const shape = { ...sizes, stored, scale, softCap: softCap ?? 0 } as const;
  for (let first = 0; first < bucket; first += cache.attentionRows) {
    const rows = Math.min(cache.attentionRows, bucket - first);
    const list = { ...attending.rows, offset: first * ROW_WORDS * 4, bytes: rows * ROW_WORDS * 4 };
    const query = rowsOf(scratch.query, rows, first);
    cache.attend(
      plan,
      { ...attending, query, rows: list, output: rowsOf(scratch.attended, rows, first) },
      { ...shape, rows },
    );
  }
  cache.rolloutState?.record(plan, attending, shape, attentionTuning(gpu), layer);
  if (gate && scratch.outputGate) {
    const gates = rowsOf(scratch.outputGate.gate, bucket);
    matmul(
      plan,
      { input, matrix: gate, output: gates, ...biased(gateBias) },
      { rows: bucket, epilogue: 'store' },
      tuning,
    );
    const stride = gates.shape.at(-1) as number;
    outputGate(plan, { gate: gates, attended: attending.output }, { rows: bucket, stride });
  }
  const product = { input: attending.output, matrix: output, ...biased(outputBias) };
  addToStream(plan, network, product, place, 'attentionPostNorm');
};

/** The same for a layer that convolves. */
const recordConvolution = (plan: Plan, network: Network, cache: Cache, input: Tensor, place: Place): void => {
  const { architecture, weights, scratch, tuning } = network;
  const { bucket, layer } = place;
  const { taps, bias } = mixerAs((architecture.blocks[layer] as Block).mixer, 'convolution');
  const own = mixerAs((weights.blocks[layer] as Weighted).mixer, 'convolution');
  const { hidden } = architecture.sizes;
  const { gates, convolved } = scratch.convolution as NonNullable<Scratch['convolution']>;
  const [projected, output] = [rowsOf(gates, bucket), rowsOf(convolved, bucket)];
  const projection = { input, matrix: own.input, output: projected, ...biased(own.inputBias) };
  matmul(plan, projection, { rows: bucket, epilogue: 'store' }, tuning);
  gatedConvolution(
    plan,
    {
      input: projected,
      rows: scratch.rows[windowsOf(architecture).indexOf(null)] as Tensor,
      weight: own.taps,
      kept: (cache.layers[layer] as ConvolutionCache).inputs,
      output,
    },
    {
      rows: bucket,
      channels: hidden,
      taps,
      width: 3 * hidden,
      half: isHalf(cache.options.precision) ? 1 : 0,
      biased: bias ? 1 : 0,
    },
  );
  const product = { input: output, matrix: own.output, ...biased(own.outputBias) };
  addToStream(plan, network, product, place, 'attentionPostNorm');
};

/** The same for a gated delta net. */
const recordDelta = (plan: Plan, network: Network, cache: Cache, input: Tensor, place: Place): void => {
  const { architecture, weights, scratch, tuning } = network;
  const { bucket, layer } = place;
  const { taps, shape } = mixerAs((architecture.blocks[layer] as Block).mixer, 'delta-net');
  const own = mixerAs((weights.blocks[layer] as Weighted).mixer, 'delta-net');
  const { inputs, rows: kept, states } = cache.layers[layer] as DeltaCache;
  const { spans, count } = cache.states as RecurrentStates;
  const view = (name: keyof NonNullable<Scratch['delta']>): Tensor => {
    const { [name]: tensor } = scratch.delta as NonNullable<Scratch['delta']>;
    return rowsOf(tensor, bucket);
  };
  const rows = scratch.rows[windowsOf(architecture).indexOf(null)] as Tensor;
  const [projected, rates, convolved, queries] = [view('projected'), view('rates'), view('mixed'), view('queries')];
  const [ruled, gatedOutput] = [view('ruled'), view('gatedOutput')];
  const channels = deltaChannels(shape);
  const width = channels + shape.valueHeads * shape.valueDim;
  matmul(plan, { input, matrix: own.input, output: projected }, { rows: bucket, epilogue: 'store' }, tuning);
  matmul(plan, { input, matrix: own.rates, output: rates }, { rows: bucket, epilogue: 'store' }, tuning);
  siluConvolution(
    plan,
    { input: projected, rows, weight: own.taps, kept: inputs, output: convolved },
    { rows: bucket, channels, taps, width, half: isHalf(cache.options.precision) ? 1 : 0, biased: 0 },
  );
  const { decayLog, decayBias } = own;
  deltaRows(plan, { convolved, rates, rows, decayLog, decayBias, kept, queries }, { rows: bucket, ...shape });
  deltaRule(plan, { queries, kept, rows, spans, states, output: ruled }, { rows: bucket, ...shape, states: count });
  const { epsilon } = architecture.norm;
  gatedNorm(
    plan,
    { input: ruled, gates: projected, weight: own.norm, output: gatedOutput },
    { rows: bucket, heads: shape.valueHeads, headDim: shape.valueDim, width, firstGate: channels, epsilon },
  );
  addToStream(plan, network, { input: gatedOutput, matrix: own.output }, place, 'attentionPostNorm');
};

const MIXERS: Readonly<Record<Block['mixer']['kind'], typeof recordAttention>> = {
  attention: recordAttention,
  convolution: recordConvolution,
  'delta-net': recordDelta,
};

export interface BodyOptions {
  /** Which blocks. Default: all. */
  readonly layers?: readonly number[] | undefined;
  /**
   * The pass leaves only the cache and the taps of earlier layers: of its last layer keys and values are enough. Default:
   * where a pass has more rows than a language model scores, and nothing else reads its last layer.
   */
  readonly unscored?: boolean;
  /** False: `scratch.stream` was filled by something else than the tokens' embeddings. */
  readonly embeds?: boolean;
}

/** Embedding and blocks, leaving the residual stream in `scratch.stream` and the taps in the cache's. */
export const recordBody = (
  plan: Plan,
  network: Network,
  cache: Cache,
  bucket: number,
  options: BodyOptions = {},
): void => {
  const { gpu, architecture, weights, scratch, tuning } = network;
  const { layers = architecture.blocks.map((_, i) => i), embeds = true } = options;
  const tapped = cache.options.tapLayers.includes(layers.at(-1) as number);
  const { unscored = bucket > MOST_ROWS && !cache.pool && !tapped } = options;
  const { hidden: width } = architecture.sizes;
  const { epsilon, kind: norm } = architecture.norm;
  const view = (tensor: Tensor): Tensor => rowsOf(tensor, bucket);
  const [stream, normed, gated] = [scratch.stream, scratch.normed, scratch.gated].map(view) as [Tensor, Tensor, Tensor];
  const as = architecture.input.features?.as;
  const paired = as === 'stream' || as === 'joined' ? scratch.features : null;
  /** What a part of a block reads: the stream, normed where the block has a norm there; and a copy of it in `tap`. */
  const read = (weight: Tensor | undefined, tap?: Tensor): Tensor => {
    const shape = { rows: bucket, width, epsilon };
    const tensors = weight && { input: stream, weight, output: normed };
    if (tensors && tap && norm === 'rms') {
      rmsNormTap(plan, { ...tensors, tap: view(tap) }, shape, rmsNormTuning(gpu));
      return normed;
    }
    if (tap) gatherRows(plan, { input: stream, indices: scratch.everyIndex, output: view(tap) }, shape);
    if (!tensors) return stream;
    recordNorm(plan, network, tensors, bucket);
    return normed;
  };
  /** The embedding together with the stream: what the first block of an EAGLE-3 drafter reads, and what MTP projects. */
  const pair = (firstWeight: Tensor): Tensor => {
    const { embedded, paired: output } = paired as NonNullable<typeof paired>;
    const secondWeight = weights.features?.norm as Tensor;
    const tensors = { first: view(embedded), firstWeight, second: stream, secondWeight, output: view(output) };
    pairNorm(plan, tensors, { rows: bucket, width, epsilon }, rmsNormTuning(gpu));
    return tensors.output;
  };
  const pairedRead = (attentionNorm: Tensor, keysOnly: boolean): Tensor => {
    const output = pair(attentionNorm);
    if (architecture.input.features?.normedResidual && !keysOnly) {
      read(weights.features?.norm);
      gatherRows(plan, { input: normed, indices: scratch.everyIndex, output: stream }, { rows: bucket, width });
    }
    return output;
  };

  const embedding = {
    rows: scratch.rows[0] as Tensor,
    tokenRing: tokenRingOf(gpu).tensor,
    matrix: weights.embedding,
    output: paired ? view(paired.embedded) : stream,
  };
  if (embeds) embed(plan, embedding, { rows: bucket, scale: architecture.input.scale });
  if (embeds && weights.positions)
    embed(plan, { ...embedding, matrix: weights.positions }, { rows: bucket, positions: true });
  if (as === 'joined') {
    const { fuse, embeddingNorm } = weights.features as NonNullable<Weights['features']>;
    const input = pair(embeddingNorm as Tensor);
    matmul(plan, { input, matrix: fuse, output: stream }, { rows: bucket, epilogue: 'store' }, tuning);
  }
  for (const layer of layers) {
    // The tap of the layer before is copied here, because this norm reads the stream anyway.
    const tap = cache.taps[cache.options.tapLayers.indexOf(layer - 1)];
    const { mixer, feedForward, parallel } = architecture.blocks[layer] as Block;
    const block = weights.blocks[layer] as Weighted;
    const place = { bucket, layer };
    const { kind, activation } = feedForward;
    /** The first half of the feed-forward part; the mixer touches neither its input nor what it gives. */
    const open = (input: Tensor): void =>
      matmul(
        plan,
        { input, matrix: block.gateUp, output: gated, ...biased(block.gateUpBias) },
        { rows: bucket, epilogue: kind === 'plain' ? activation : `${activation}-mul` },
        tuning,
      );
    const keysOnly = unscored && layer === layers.at(-1) && mixer.kind === 'attention';
    if (parallel === 'own norm' && !keysOnly) open(read(block.feedForwardNorm));
    const input =
      as === 'stream' ? pairedRead(block.attentionNorm as Tensor, keysOnly) : read(block.attentionNorm, tap);
    if (keysOnly) {
      recordKeys(plan, network, cache, input, place);
      break;
    }
    if (parallel === 'shared norm') open(input);
    MIXERS[mixer.kind](plan, network, cache, input, place);
    if (!parallel) open(read(block.feedForwardNorm));
    const product = { input: gated, matrix: block.down, ...biased(block.downBias) };
    addToStream(plan, network, product, place, 'feedForwardPostNorm');
  }
  cache.pool?.record(plan, stream, scratch.rows[0] as Tensor);
  cache.recordTokens(plan, scratch.rows[0] as Tensor, bucket);
};

/** Final norm and logits of the stream's first rows, or of those that `pickedIndices` names. */
export const recordHead = (plan: Plan, network: Network, bucket: number, picked: boolean): void => {
  const { architecture, weights, scratch, tuning } = network;
  const width = architecture.sizes.hidden;
  const normed = rowsOf(scratch.normed, bucket);
  const input = rowsOf(picked ? scratch.picked : scratch.stream, bucket);
  if (picked)
    gatherRows(plan, { input: scratch.stream, indices: scratch.pickedIndices, output: input }, { rows: bucket, width });
  recordNorm(plan, network, { input, weight: weights.finalNorm, output: normed }, bucket);
  // The next draft of the chain or the tree reads this as its feature.
  if (architecture.input.features?.feedsBackNormed)
    gatherRows(
      plan,
      { input: normed, indices: scratch.everyIndex, output: rowsOf(scratch.stream, bucket) },
      { rows: bucket, width },
    );
  const logits = rowsOf(scratch.logits, bucket);
  const { scale, softCap } = architecture.logits;
  const shape = { rows: bucket, epilogue: 'store', scale, softCap } as const;
  const product = { input: normed, matrix: weights.head, output: logits, ...biased(weights.headBias) };
  matmul(plan, product, shape, tuning);
};

/** Logits of a reduced head over its target's vocabulary. */
export const recordSpread = (
  plan: Plan,
  { architecture, weights, scratch, reduced }: Network,
  bucket: Bucket,
): void => {
  if (!reduced) return;
  const [logits, scores] = [rowsOf(scratch.logits, bucket), rowsOf(scratch.scores, bucket)];
  const [partStride, stride] = [logits, scores].map(({ shape }) => shape.at(-1)) as [number, number];
  const uniforms = { first: 0, rows: bucket, vocabulary: outputsOf({ architecture, weights }), partStride, stride };
  spreadLogits(plan, { part: logits, index: reduced.index, logits: scores }, uniforms);
};
