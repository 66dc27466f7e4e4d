// A checkpoint becomes a model: the pipelines compile while the weights stream in, and the finished model is checked
// for batch invariance. If any of it fails or is aborted, everything is freed.
import { checkAborted } from '../../base/errors.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { Arena } from '../arena.ts';
import type { CachedCursor } from '../cache/cursor.ts';
import { readArchitecture } from '../families/families.ts';
import { Transformer } from '../transformer.ts';
import { CHECK_CAPACITY, checkLayers, isBatchInvariant } from './batch-invariance.ts';
import {
  checkTensors,
  divisorSinks,
  type LoadModelOptions,
  prepareWeights,
  streamWeights,
} from './checkpoint-tensors.ts';
import { reportPipelines } from './compile-progress.ts';
import { withOwnHead } from './own-head.ts';

export const loadModel = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  options: LoadModelOptions = {},
): Promise<Transformer> => {
  const { signal, precision, onProgress } = options;
  const stated = readArchitecture(checkpoint.config, checkpoint.tensors);
  const architecture = await withOwnHead(stated, checkpoint, signal);
  checkTensors(architecture, checkpoint.tensors);
  const arena = new Arena(gpu);
  let model: Transformer | null = null;
  let probing: Promise<CachedCursor> | null = null;
  try {
    const { what, weights, sinks, tuning } = await prepareWeights(gpu, arena, checkpoint, architecture, { precision });
    checkAborted(signal);
    const made = await gpu.allocating(what, () => new Transformer({ gpu, architecture, weights, tuning, arena }));
    model = made;
    // Every pipeline of the model is in the plans of this cursor, so opening it compiles them all. It has one layer of
    // each kind, and later serves the check.
    const capacity = Math.min(CHECK_CAPACITY, made.context);
    const began = performance.now();
    probing = reportPipelines(gpu, onProgress, async () => {
      await made.ready();
      return made.open({ capacity }, checkLayers(architecture, weights));
    });
    const compiled = probing.then(() => performance.now() - began);
    const all = new Map([...sinks, ...divisorSinks(made)]);
    const [compile, streamed] = await Promise.all([compiled, streamWeights(gpu, checkpoint, all, options)]);
    using probe = await probing;
    const checking = performance.now();
    if (!(options.batchInvariant ?? (await isBatchInvariant(probe, made.vocabulary)))) made.padPasses();
    made.loadTimes = { ...streamed, compile, check: performance.now() - checking };
    checkAborted(signal);
    if (gpu.failure) throw gpu.failure;
    return made;
  } catch (error) {
    await probing?.catch(() => {}); // or it would allocate after this load has failed
    if (model) model[Symbol.dispose]();
    else arena.free();
    throw error;
  }
};
