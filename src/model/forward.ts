// The one interpreter: walks an architecture and records its dispatches into plans. A pass is a body (embedding and
// blocks, bound to one cache) and a head (final norm and logits), so prefill runs bodies and one head of one row.
// Ten dispatches a layer: norm · qkv · rope and append · attention (three) · output · norm · gate·up · down.
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import type { Plan } from '../gpu/plan.ts';
import { attention, attentionTuning } from '../kernels/attention.ts';
import { embed } from '../kernels/embed.ts';
import { gatherRows } from '../kernels/gather-rows.ts';
import { type Bucket, type MatmulTuning, matmul } from '../kernels/matmul.ts';
import { rmsNorm, rmsNormTuning } from '../kernels/rms-norm.ts';
import { ropeAppend } from '../kernels/rope-append.ts';
import { ROW_WORDS } from '../kernels/rows.ts';
import type { Architecture } from './architecture.ts';
import { type Arena, rowsOf } from './arena.ts';
import { type Cache, MOST_ROWS } from './cache.ts';
import type { Weights } from './weights.ts';

/** Activations of one pass, for 16 rows; a smaller pass uses the first rows of each. */
export interface Scratch {
  /** One for each distinct window, because visibility differs; [0] is also what embedding and RoPE read. */
  readonly rows: readonly Tensor[];
  readonly stream: Tensor;
  readonly normed: Tensor;
  readonly qkv: Tensor;
  readonly query: Tensor;
  readonly attended: Tensor;
  readonly gated: Tensor;
  /** The rows of the stream that a head of few rows scores. */
  readonly picked: Tensor;
  readonly pickedIndices: Tensor;
  readonly everyIndex: Tensor;
  readonly logits: Tensor;
}

/** Distinct windows, in the order of their first layer. */
export const windowsOf = ({ blocks }: Architecture): readonly (number | null)[] => [
  ...new Set(blocks.map(({ mixer }) => mixer.window)),
];

export const makeScratch = (gpu: Gpu, arena: Arena, architecture: Architecture): Scratch => {
  const { hidden, heads, keyValueHeads, headDim, feedForward, vocabulary } = architecture.sizes;
  const wide = (width: number, label: string): Tensor => arena.activation(MOST_ROWS, width, label);
  const everyIndex = arena.storage(MOST_ROWS * 4, 'every index');
  gpu.device.queue.writeBuffer(
    everyIndex.buffer,
    0,
    Uint32Array.from({ length: MOST_ROWS }, (_, i) => i),
  );
  return {
    rows: windowsOf(architecture).map(() => arena.storage(MOST_ROWS * ROW_WORDS * 4, 'rows')),
    stream: wide(hidden, 'stream'),
    normed: wide(hidden, 'normed'),
    qkv: wide((heads + 2 * keyValueHeads) * headDim, 'qkv'),
    query: wide(heads * headDim, 'query'),
    attended: wide(heads * headDim, 'attended'),
    gated: wide(feedForward, 'gated'),
    picked: wide(hidden, 'picked'),
    pickedIndices: arena.storage(MOST_ROWS * 4, 'picked indices'),
    everyIndex,
    logits: wide(vocabulary, 'logits'),
  };
};

export interface Network {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly scratch: Scratch;
  readonly tuning: MatmulTuning;
}

/** Embedding and the given blocks, leaving the residual stream in `scratch.stream` and the taps in the cache's. */
export const recordBody = (
  plan: Plan,
  { gpu, architecture, weights, scratch, tuning }: Network,
  cache: Cache,
  bucket: Bucket,
  layers: readonly number[] = architecture.blocks.map((_, i) => i),
): void => {
  const { hidden, heads, keyValueHeads, headDim } = architecture.sizes;
  const { epsilon } = architecture.norm;
  const windows = windowsOf(architecture);
  const view = (tensor: Tensor): Tensor => rowsOf(tensor, bucket);
  const [stream, normed, qkv] = [view(scratch.stream), view(scratch.normed), view(scratch.qkv)];
  const [query, attended, gated] = [view(scratch.query), view(scratch.attended), view(scratch.gated)];
  const any = scratch.rows[0] as Tensor;
  const half = cache.options.half ? 1 : 0;
  const capacity = cache.slots;
  const norm = (weight: Tensor): void =>
    rmsNorm(
      plan,
      { input: stream, weight, output: normed },
      { rows: bucket, width: hidden, epsilon },
      rmsNormTuning(gpu),
    );

  embed(plan, { rows: any, matrix: weights.embedding, output: stream }, { rows: bucket });
  for (const layer of layers) {
    const { mixer } = architecture.blocks[layer] as Architecture['blocks'][number];
    const block = weights.blocks[layer] as Weights['blocks'][number];
    const { keys, values } = cache.layers[layer] as Cache['layers'][number];
    const rows = scratch.rows[windows.indexOf(mixer.window)] as Tensor;
    norm(block.attentionNorm);
    matmul(
      plan,
      { input: normed, matrix: block.qkv, output: qkv, ...(block.qkvBias ? { bias: block.qkvBias } : {}) },
      { rows: bucket, epilogue: 'store' },
      tuning,
    );
    const unnormed = block.attentionNorm;
    ropeAppend(
      plan,
      {
        qkv,
        rows: any,
        table: cache.table,
        queryNorm: block.queryNorm ?? unnormed,
        keyNorm: block.keyNorm ?? unnormed,
        query,
        keys,
        values,
      },
      { rows: bucket, heads, keyValueHeads, headDim, epsilon, normed: mixer.queryKeyNorm ? 1 : 0, capacity, half },
    );
    attention(
      plan,
      { query, keys, values, rows, scratch: cache.attention, output: attended },
      { rows: bucket, heads, keyValueHeads, headDim, capacity, half },
      attentionTuning(gpu),
    );
    matmul(
      plan,
      {
        input: attended,
        matrix: block.output,
        output: stream,
        ...(block.outputBias ? { bias: block.outputBias } : {}),
      },
      { rows: bucket, epilogue: 'add' },
      tuning,
    );
    norm(block.feedForwardNorm);
    matmul(
      plan,
      { input: normed, matrix: block.gateUp, output: gated },
      { rows: bucket, epilogue: 'silu-mul' },
      tuning,
    );
    matmul(plan, { input: gated, matrix: block.down, output: stream }, { rows: bucket, epilogue: 'add' }, tuning);
    const tap = cache.taps[cache.options.tapLayers.indexOf(layer)];
    if (tap)
      gatherRows(
        plan,
        { input: stream, indices: scratch.everyIndex, output: view(tap) },
        { rows: bucket, width: hidden },
      );
  }
};

/** Final norm and logits of the stream's first rows, or of those that `pickedIndices` names. */
export const recordHead = (
  plan: Plan,
  { gpu, architecture, weights, scratch, tuning }: Network,
  bucket: Bucket,
  picked: boolean,
): void => {
  const width = architecture.sizes.hidden;
  const { epsilon } = architecture.norm;
  const normed = rowsOf(scratch.normed, bucket);
  const input = rowsOf(picked ? scratch.picked : scratch.stream, bucket);
  if (picked)
    gatherRows(plan, { input: scratch.stream, indices: scratch.pickedIndices, output: input }, { rows: bucket, width });
  rmsNorm(
    plan,
    { input, weight: weights.finalNorm, output: normed },
    { rows: bucket, width, epsilon },
    rmsNormTuning(gpu),
  );
  matmul(
    plan,
    { input: normed, matrix: weights.head, output: rowsOf(scratch.logits, bucket) },
    { rows: bucket, epilogue: 'store' },
    tuning,
  );
};
