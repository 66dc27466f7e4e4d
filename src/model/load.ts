// A checkpoint becomes a model: its tensors are held against the architecture's checklist, device memory is taken, the
// pipelines compile while the weights stream in, and the finished model is checked for batch invariance. Whatever was
// taken is freed when any of it fails or is aborted.
import { checkAborted, OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { chooseTuning } from '../kernels/matmul-tuning.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import type { Precision } from '../weights/quantize.ts';
import { type Architecture, slots } from './architecture.ts';
import { Arena } from './arena.ts';
import type { CachedCursor } from './cursor.ts';
import { CHECK_CAPACITY, checkLayers, isBatchInvariant } from './invariance.ts';
import { placeBytes, places } from './placement.ts';
import { readArchitecture } from './registry.ts';
import { Transformer } from './transformer.ts';
import { type Allocated, allocate, assemble } from './weights.ts';

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

const ROPE_DIVISORS = 'rope_freqs.weight';

/** Tensors that some checkpoints carry and nobody reads: cached RoPE frequencies, a tied head written out. */
const ignorable = (name: string, { head }: Architecture): boolean =>
  name.endsWith('.rotary_emb.inv_freq') || (name === 'lm_head.weight' && head === 'tied');

const bad = (message: string, hint = ''): OutriderError => new OutriderError('bad-checkpoint', message, hint);

/** Holds a checkpoint's table of tensors against what the architecture needs. */
export const checkTensors = (architecture: Architecture, tensors: Checkpoint['tensors']): void => {
  const needed = new Set<string>();
  for (const { checkpoint, shape } of slots(architecture)) {
    needed.add(checkpoint);
    const found = tensors.get(checkpoint);
    if (!found) throw bad(`tensor ${checkpoint} is missing`, `The ${architecture.family} family needs it.`);
    if (found.shape.length !== shape.length || found.shape.some((size, i) => size !== shape[i]))
      throw bad(`${checkpoint}: expected [${shape.join(', ')}], found [${found.shape.join(', ')}]`);
  }
  for (const name of tensors.keys())
    if (!needed.has(name) && name !== ROPE_DIVISORS && !ignorable(name, architecture))
      throw bad(`unknown tensor ${name}`, `The ${architecture.family} family has no place for it.`);
  const divisors = tensors.get(ROPE_DIVISORS);
  const half = architecture.sizes.headDim / 2;
  if (divisors && (divisors.shape.length !== 1 || divisors.shape[0] !== half))
    throw bad(`${ROPE_DIVISORS}: expected [${half}], found [${divisors.shape.join(', ')}]`);
};

/** Bytes that may be on their way to the device at once: writeBuffer copies them into host memory. */
const IN_FLIGHT = 16 << 20;

const stream = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  { sinks }: Allocated,
  model: Transformer,
  { signal, onProgress }: LoadModelOptions,
): Promise<void> => {
  const wanted = (name: string): boolean => sinks.has(name) || name === ROPE_DIVISORS;
  const total = [...checkpoint.tensors.values()].reduce((sum, { name, bytes }) => sum + (wanted(name) ? bytes : 0), 0);
  let waiting = 0;
  let loaded = 0;
  for await (const band of checkpoint.stream({ signal, wanted })) {
    if (band.tensor.name === ROPE_DIVISORS) model.ropeDivisors = band.decode();
    else sinks.get(band.tensor.name)?.(band);
    loaded += band.raw.byteLength;
    waiting += band.raw.byteLength;
    if (waiting >= IN_FLIGHT) {
      gpu.device.queue.submit([]);
      await gpu.device.queue.onSubmittedWorkDone();
      waiting = 0;
    }
    if (gpu.failure) throw gpu.failure;
    checkAborted(signal);
    onProgress?.({ phase: 'upload', loaded, total });
  }
};

export const loadModel = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  options: LoadModelOptions = {},
): Promise<Transformer> => {
  const { signal, precision, onProgress } = options;
  const architecture = readArchitecture(checkpoint.config);
  checkTensors(architecture, checkpoint.tensors);
  const planned = places(architecture, (name) => checkpoint.tensors.get(name)?.type ?? 'F32', precision);
  const bytes = planned.reduce((sum, place) => sum + placeBytes(place), 0);
  const arena = new Arena(gpu);
  let model: Transformer | null = null;
  let probing: Promise<CachedCursor> | null = null;
  try {
    const what = `${checkpoint.name}: ${(bytes / 2 ** 20).toFixed(0)} MiB of weights`;
    const allocated = await gpu.allocating(what, () => allocate(gpu, arena, planned));
    const weights = assemble(architecture, allocated);
    const tuning = await chooseTuning(gpu, [...allocated.matrices.values()]);
    checkAborted(signal);
    const made = await gpu.allocating(what, () => new Transformer({ gpu, architecture, weights, tuning, arena }));
    model = made;
    onProgress?.({ phase: 'compile', loaded: 0, total: 1 });
    // Every pipeline of the model is in the plans of this cursor, so opening it compiles them all. It has one layer of
    // each kind, and later serves the check.
    const capacity = Math.min(CHECK_CAPACITY, made.context);
    probing = made.ready().then(() => made.open({ capacity }, checkLayers(weights)));
    const compiled = probing.then(() => onProgress?.({ phase: 'compile', loaded: 1, total: 1 }));
    await Promise.all([compiled, stream(gpu, checkpoint, allocated, made, options)]);
    using probe = await probing;
    if (!(options.batchInvariant ?? (await isBatchInvariant(probe, made.vocabulary)))) made.padPasses();
    checkAborted(signal);
    if (gpu.failure) throw gpu.failure;
    return made;
  } catch (error) {
    await probing?.catch(() => {}); // it would allocate behind our back
    if (model) model[Symbol.dispose]();
    else arena.free();
    throw error;
  }
};
