// What loading a model, a drafter and a judge have in common: the checkpoint's tensors are compared with the
// architecture's checklist, device memory is allocated, and the weights stream in.
import { checkAborted } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { MatmulTuning, Matrix } from '../../kernels/matmul/matmul.ts';
import { chooseTuning } from '../../kernels/matmul/matmul-tuning.ts';
import { type Checkpoint, type RowBlock, typeAsRead } from '../../weights/checkpoint.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { type Architecture, ropesOf, tensorSpecs } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import type { RopeDivisors } from '../forward/rope-table.ts';
import { allocate, assemble, type Lent, type Sink, type Weights } from './device-weights.ts';
import { type PlannedWeight, plannedBytes, planWeights } from './weight-layout.ts';

export interface LoadProgress {
  readonly phase: 'upload' | 'compile';
  readonly loaded: number;
  /** Bytes of the checkpoint, or steps of compiling. */
  readonly total: number;
}

export interface LoadModelOptions {
  /** Absent: as in the file. */
  readonly precision?: Precision | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** The answer of an earlier check of this model on this device; absent, the model is checked. */
  readonly batchInvariant?: boolean | undefined;
}

/** What a load's time went into, in milliseconds. Shaders compile while tensors are read and repacked. */
export interface LoadTimes {
  /** Waiting for bytes of the file, and for the device to take what was written to it. */
  readonly read: number;
  /** Bringing tensors into the device's layout. */
  readonly repack: number;
  readonly compile: number;
  /** After all that: checking that rows score alike in every pass. Some drivers finish their shaders only in its runs. */
  readonly check: number;
}

/** GGUF's tensors that divide RoPE's frequencies, as rope-table.ts calls them. */
const ROPE_DIVISORS = {
  'rope_freqs.weight': 'all',
  'rope_factors_short.weight': 'short',
  'rope_factors_long.weight': 'long',
} as const satisfies Readonly<Record<string, keyof RopeDivisors>>;

/** Puts them where a model's caches find them. */
export const divisorSinks = (model: { ropeDivisors: RopeDivisors }): readonly (readonly [string, Sink])[] =>
  Object.entries(ROPE_DIVISORS).map(([name, divides]) => [
    name,
    (block) => {
      model.ropeDivisors = { ...model.ropeDivisors, [divides]: block.decode() };
    },
  ]);

/** Tensors that are not needed: cached RoPE frequencies, masks (GPT-2, GPT-NeoX), a tied head written out, parts such as a vision tower. */
const ignorable = (name: string, { head, names, otherParts = [] }: Architecture): boolean =>
  name.endsWith('.rotary_emb.inv_freq') ||
  /\.att(?:n|ention)\.(?:masked_)?bias$/.test(name) ||
  (head === 'tied' && (name === 'lm_head.weight' || name === names.head)) ||
  otherParts.some((part) => name.startsWith(part));

/** llama.cpp's converter writes the MTP layer of a model into a file of its own, on request with the embedding. */
const isMtpAlone = (tensors: Checkpoint['tensors']): boolean =>
  tensors.has('mtp.fc.weight') && ![...tensors.keys()].some((name) => /^(?!mtp\.).*\blayers\./.test(name));

/** Compares a checkpoint's tensors with what the architecture needs; `extra` may be there too. */
export const checkTensors = (
  architecture: Architecture,
  tensors: Checkpoint['tensors'],
  extra: readonly string[] = [],
): void => {
  const needed = new Set<string>(extra);
  for (const { checkpoint, shape, weights } of tensorSpecs(architecture)) {
    needed.add(checkpoint);
    const found = tensors.get(checkpoint);
    if (!found) {
      if (!checkpoint.startsWith('mtp.') && isMtpAlone(tensors))
        throw bad(
          'the checkpoint holds an MTP layer, and no other layer of its model',
          'The layer drafts for that model: load the model as `target`, and this as `mtp`.',
        );
      const bare = tensors.has(checkpoint.replace(/^model\./, ''));
      const needs = `The ${architecture.family} family needs it.`;
      const body = 'It is the body of a model without its head, as models for embeddings are: it writes no text.';
      throw bad(`tensor ${checkpoint} is missing`, bare ? body : needs);
    }
    // GGUF leaves out the middle 1 of a depthwise convolution's [channels, 1, taps], and llama.cpp's own tools that of
    // a matrix of one row.
    const [wanted, has] = [shape, found.shape].map((sizes) => sizes.filter((size) => size !== 1));
    if (wanted?.length !== has?.length || has?.some((size, i) => size !== wanted?.[i]))
      throw bad(
        `${checkpoint}: expected [${shape.join(', ')}], found [${found.shape.join(', ')}]`,
        weights.length > 1 ? `Its rows are ${weights.map(({ name }) => name).join(', ')}, in this order.` : '',
      );
  }
  for (const name of tensors.keys())
    if (!needed.has(name) && !Object.hasOwn(ROPE_DIVISORS, name) && !ignorable(name, architecture))
      throw bad(`unknown tensor ${name}`, `The ${architecture.family} family has no such weight.`);
  for (const name of Object.keys(ROPE_DIVISORS)) {
    const divisors = tensors.get(name);
    for (const { dimensions } of divisors ? ropesOf(architecture) : [])
      if (divisors && (divisors.shape.length !== 1 || divisors.shape[0] !== dimensions / 2))
        throw bad(`${name}: expected [${dimensions / 2}], found [${divisors.shape.join(', ')}]`);
  }
  for (const { scaling } of ropesOf(architecture))
    for (const span of ['short', 'long'] as const)
      if (scaling.type === 'longrope' && !scaling[span] && !tensors.has(`rope_factors_${span}.weight`))
        throw bad(`longrope without factors: neither ${span}_factor nor the tensor rope_factors_${span}.weight`);
};

/** Bytes of a submission. Two may be on their way to the device at once: writeBuffer copies them into host memory. */
const SUBMITTED = 8 << 20;

/** The rows of one block may go to many places, each head's to two. */
const decodedOnce = (block: RowBlock): RowBlock => {
  let values: Float32Array<ArrayBuffer> | undefined;
  const decode = (): Float32Array<ArrayBuffer> => {
    values ??= block.decode();
    return values;
  };
  return { ...block, decode };
};

/** Streams the tensors that have a sink; gives what the time went into. */
export const streamWeights = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  sinks: ReadonlyMap<string, Sink>,
  { signal, onProgress }: LoadModelOptions,
): Promise<Pick<LoadTimes, 'read' | 'repack'>> => {
  const wanted = (name: string): boolean => sinks.has(name);
  const total = [...checkpoint.tensors.values()].reduce((sum, { name, bytes }) => sum + (wanted(name) ? bytes : 0), 0);
  let previous: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let loaded = 0;
  let repack = 0;
  const began = performance.now();
  for await (const block of checkpoint.stream({ signal, wanted })) {
    const taken = performance.now();
    sinks.get(block.tensor.name)?.(decodedOnce(block));
    repack += performance.now() - taken;
    loaded += block.raw.byteLength;
    waiting += block.raw.byteLength;
    if (waiting >= SUBMITTED) {
      gpu.device.queue.submit([]);
      await previous;
      previous = gpu.idle();
      waiting = 0;
    }
    if (gpu.failure) throw gpu.failure;
    checkAborted(signal);
    onProgress?.({ phase: 'upload', loaded, total });
  }
  return { read: performance.now() - began - repack, repack };
};

export interface Prepared {
  /** For messages: what is being made. */
  readonly what: string;
  readonly weights: Weights;
  readonly sinks: ReadonlyMap<string, Sink>;
  readonly tuning: MatmulTuning;
  /** All matrices, by key. */
  readonly matrices: ReadonlyMap<string, Matrix>;
}

interface PrepareOptions {
  readonly precision: Precision | undefined;
  readonly lent?: Lent;
  /** Weights that the architecture does not declare: a judge's head. */
  readonly others?: readonly PlannedWeight[];
}

/** Device memory for the weights of an architecture, still empty, and the fastest kernels for their shapes. */
export const prepareWeights = async (
  gpu: Gpu,
  arena: Arena,
  { name, tensors }: Checkpoint,
  architecture: Architecture,
  { precision, lent, others = [] }: PrepareOptions,
): Promise<Prepared> => {
  const own = planWeights(architecture, (tensor) => typeAsRead(tensors.get(tensor)), precision);
  const planned = [...own, ...others];
  const bytes = planned.reduce((sum, weight) => sum + plannedBytes(weight), 0);
  const what = `${name}: ${(bytes / 2 ** 20).toFixed(0)} MiB of weights`;
  const allocated = await gpu.allocating(what, () => allocate(gpu, arena, planned));
  const tuning = await chooseTuning(gpu, [...allocated.matrices.values()]);
  const { sinks, matrices } = allocated;
  return { what, weights: assemble(architecture, allocated, lent), sinks, tuning, matrices };
};
