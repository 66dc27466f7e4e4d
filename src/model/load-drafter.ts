// A drafter's checkpoint becomes a drafter of one target: the pair is held against each other first, so that a drafter
// for another model is refused by name and not by bad drafts.
import { checkAborted, OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import { Arena } from './arena.ts';
import { DFlashDrafter } from './block-drafter.ts';
import type { TapDrafter } from './drafter.ts';
import { checkTensors, type LoadModelOptions, prepareWeights, streamWeights } from './loading.ts';
import type { BlockDrafter, FeatureDrafter, LanguageModel } from './model.ts';
import { type DrafterFamily, readDrafter } from './registry.ts';
import { Transformer } from './transformer.ts';

const refuse = (message: string): OutriderError =>
  new OutriderError('bad-request', message, 'A drafter serves the one target that it was trained for.');

/** Whatever would make it a drafter of another target. */
const checkPair = (name: string, family: DrafterFamily, target: LanguageModel): void => {
  const { hidden } = family.architecture.sizes;
  if (hidden !== target.hidden)
    throw refuse(`${name} drafts for a target of width ${hidden}; this target has ${target.hidden}`);
  if (family.vocabulary !== target.vocabulary)
    throw new OutriderError(
      'vocabulary-mismatch',
      `${name} drafts for a vocabulary of ${family.vocabulary}; this target has ${target.vocabulary}`,
    );
  const outside = family.tapLayers(target.layers).find((layer) => layer < 0 || layer >= target.layers);
  if (outside !== undefined)
    throw refuse(`${name} reads layer ${outside} of its target; this target has layers 0 to ${target.layers - 1}`);
  if (family.kind !== 'dflash') return;
  if (family.targetLayers !== null && family.targetLayers !== target.layers)
    throw refuse(`${name} drafts for a target of ${family.targetLayers} layers; this target has ${target.layers}`);
  if (family.maskToken >= target.vocabulary)
    throw refuse(
      `${name}: mask_token_id ${family.maskToken} is outside the target's embedding of ${target.vocabulary} rows`,
    );
};

export const loadDrafter = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  target: LanguageModel,
  options: LoadModelOptions = {},
): Promise<BlockDrafter | FeatureDrafter> => {
  const { signal, precision, onProgress } = options;
  if (!(target instanceof Transformer)) throw refuse('this target lends no embedding');
  const family = readDrafter(checkpoint.config);
  if (family.kind !== 'dflash') throw refuse('EAGLE-3');
  const { architecture } = family;
  checkPair(checkpoint.name, family, target);
  checkTensors(architecture, checkpoint.tensors);
  const arena = new Arena(gpu);
  let drafter: TapDrafter | null = null;
  try {
    const { tuning: lentTuning, ...lent } = target.lend();
    const prepared = await prepareWeights(gpu, arena, checkpoint, architecture, { precision, lent });
    checkAborted(signal);
    const { what, weights, sinks } = prepared;
    const tuning = { ...prepared.tuning, shapes: { ...lentTuning.shapes, ...prepared.tuning.shapes } };
    const tapLayers = family.tapLayers(target.layers);
    const parts = { gpu, architecture, weights, tuning, arena, target, tapLayers };
    const made = await gpu.allocating(what, () => new DFlashDrafter(parts, family));
    drafter = made;
    onProgress?.({ phase: 'compile', loaded: 0, total: 1 });
    const compiled = made.ready().then(() => onProgress?.({ phase: 'compile', loaded: 1, total: 1 }));
    await Promise.all([compiled, streamWeights(gpu, checkpoint, sinks, options)]);
    checkAborted(signal);
    if (gpu.failure) throw gpu.failure;
    return made;
  } catch (error) {
    if (drafter) drafter[Symbol.dispose]();
    else arena.free();
    throw error;
  }
};
