// A drafter's checkpoint becomes a drafter of one target. The two are compared first, so that a drafter for another
// model is refused with the reason instead of drafting badly.

import { checkAborted, OutriderError } from '../../base/errors.ts';
import { MOST_ROWS } from '../../base/pass-rows.ts';
import { bad, refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import { NOT_THERE } from '../../kernels/sampling/spread-logits.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { Arena } from '../arena.ts';
import { DFlashDrafter } from '../drafters/dflash-drafter.ts';
import { DSparkDrafter } from '../drafters/dspark-drafter.ts';
import { Eagle3Drafter } from '../drafters/eagle3-drafter.ts';
import type { DrafterParts } from '../drafters/tap-drafter.ts';
import { type DrafterFamily, drafterExtras, isDrafter, readDrafter } from '../families/families.ts';
import type { Reduced } from '../forward/interpreter.ts';
import type { BlockDrafter, FeatureDrafter, LanguageModel, MarkovDrafter } from '../interface.ts';
import { Transformer } from '../transformer.ts';
import {
  checkTensors,
  divisorSinks,
  type LoadModelOptions,
  prepareWeights,
  streamWeights,
} from './checkpoint-tensors.ts';
import { reportPipelines } from './compile-progress.ts';

const wrongTarget = (message: string): OutriderError =>
  refuse(message, 'A drafter serves the one target that it was trained for.');

/** Refuses a drafter that was made for another target. */
const checkPair = (name: string, family: DrafterFamily, target: Transformer): void => {
  const { hidden } = family.architecture.sizes;
  if (hidden !== target.hidden)
    throw wrongTarget(`${name} drafts for a target of width ${hidden}; this target has ${target.hidden}`);
  if (family.vocabulary !== target.vocabulary)
    throw new OutriderError(
      'vocabulary-mismatch',
      `${name} drafts for a vocabulary of ${family.vocabulary}; this target has ${target.vocabulary}`,
    );
  const layers = family.tapLayers(target.layers);
  const normed = family.kind !== 'dflash' || !family.tapsBeforeNorm;
  if (normed && layers.includes(target.layers - 1) && target.architecture.norm.kind === 'layer')
    throw wrongTarget(`${name} reads its target after the final norm, which is a LayerNorm here: not supported`);
  const outside = layers.find((layer) => layer < -1 || layer >= target.layers);
  if (outside !== undefined)
    throw wrongTarget(`${name} reads layer ${outside} of its target; this target has layers 0 to ${target.layers - 1}`);
  if (family.kind === 'eagle3' || family.kind === 'mtp') return;
  if (family.targetLayers !== null && family.targetLayers !== target.layers)
    throw wrongTarget(`${name} drafts for a target of ${family.targetLayers} layers; this target has ${target.layers}`);
  if (family.maskToken >= target.vocabulary)
    throw wrongTarget(
      `${name}: mask_token_id ${family.maskToken} is outside the target's embedding of ${target.vocabulary} rows`,
    );
};

/** The map from a drafter's own vocabulary to the target's: differences, or in GGUF ids. */
const MAP = 'd2t';
/** Which of the target's tokens the map has. Nothing needs it: it shows whether the map is read as it was meant. */
const COVERED = 't2d';

const BAD_MAP = 'The file is damaged, or its draft vocabulary is mapped in another way: download or convert it again.';

/** Reads the map, and puts both directions on the device. */
const mapVocabulary = (
  gpu: Gpu,
  arena: Arena,
  { architecture, vocabulary }: DrafterFamily,
  { tensors }: Checkpoint,
): {
  readonly reduced: Reduced;
  readonly fill: (map: readonly number[]) => readonly number[];
  readonly compare: (covered: Float32Array) => void;
} => {
  const { vocabulary: drafted } = architecture.sizes;
  const shape = tensors.get(MAP)?.shape;
  if (!shape && drafted < vocabulary) throw bad(`tensor ${MAP} is missing`, 'It maps the draft vocabulary.');
  if (shape && (shape.length !== 1 || shape[0] !== drafted))
    throw bad(`${MAP}: expected [${drafted}], found [${shape.join(', ')}]`);
  const inverse = tensors.get(COVERED)?.shape;
  if (inverse && (inverse.length !== 1 || inverse[0] !== vocabulary))
    throw bad(`${COVERED}: expected [${vocabulary}], found [${inverse.join(', ')}]`);
  const ids = arena.storage(drafted * 4, 'draft ids');
  const index = arena.storage(vocabulary * 4, 'draft index');
  const entries = new Uint32Array(vocabulary).fill(NOT_THERE);
  const fill = (map: readonly number[]): readonly number[] => {
    for (const [i, id] of map.entries()) {
      if (!(Number.isInteger(id) && id >= 0 && id < vocabulary))
        throw bad(`${MAP}: entry ${i} is token ${id}, which is outside the vocabulary of ${vocabulary}`, BAD_MAP);
      if (entries[id] !== NOT_THERE) throw bad(`${MAP}: entries ${entries[id]} and ${i} are both token ${id}`, BAD_MAP);
      entries[id] = i;
    }
    gpu.device.queue.writeBuffer(ids.buffer, 0, Uint32Array.from(map));
    gpu.device.queue.writeBuffer(index.buffer, 0, entries);
    return map;
  };
  const compare = (covered: Float32Array): void => {
    const id = entries.findIndex((entry, i) => (entry !== NOT_THERE) !== (covered[i] !== 0));
    if (id < 0) return;
    const [has, lacks] = entries[id] === NOT_THERE ? [COVERED, MAP] : [MAP, COVERED];
    throw bad(`${has} has token ${id}, and ${lacks} lacks it`, BAD_MAP);
  };
  return { reduced: { ids, index }, fill, compare };
};

type AnyDrafter = DFlashDrafter | DSparkDrafter | Eagle3Drafter;

/** Every pipeline of the drafter, and those of a target that it follows, so that the first draft waits for none. */
const compile = async (drafter: AnyDrafter, target: Transformer): Promise<void> => {
  const { tapLayers } = drafter;
  const compiled = await Promise.allSettled<Disposable | null>([
    drafter.open({ capacity: Math.min(MOST_ROWS, drafter.context) }),
    target.open({ capacity: Math.min(MOST_ROWS, target.context), tapLayers }),
    drafter.ready().then(() => null),
  ]);
  for (const each of compiled) if (each.status === 'fulfilled') each.value?.[Symbol.dispose]();
  for (const each of compiled) if (each.status === 'rejected') throw each.reason;
};

const makeDrafter = (family: DrafterFamily, parts: DrafterParts): AnyDrafter => {
  if (family.kind === 'dflash') return new DFlashDrafter(parts, family);
  return family.kind === 'dspark' ? new DSparkDrafter(parts, family) : new Eagle3Drafter(parts, family.kind);
};

/** A GGUF drafter has its target's vocabulary if no tensor has a row for each token: its tokenizer may lack padding. */
const configFor = (
  { name, config, format, tensors }: Checkpoint,
  { vocabulary }: LanguageModel,
): Checkpoint['config'] => {
  const drafted = tensors.get(MAP)?.shape[0] ?? 0;
  if (drafted > vocabulary)
    throw wrongTarget(`${name} drafts ${drafted} tokens; the vocabulary of this target has ${vocabulary}`);
  const told = ['embed_tokens.weight', 'markov_head.markov_w1.weight', ...(tensors.has(MAP) ? [] : ['lm_head.weight'])];
  return format === 'safetensors' || !isDrafter(config) || told.some((name) => tensors.has(name))
    ? config
    : { ...config, vocab_size: vocabulary };
};

/** A drafter that borrows its target's embedding together with the scale inside it. */
const withScale = (family: DrafterFamily, { input: lent }: Transformer['architecture']): DrafterFamily => {
  const { architecture } = family;
  if (!architecture.input.scaleInside || !lent.scaleInside) return family;
  return { ...family, architecture: { ...architecture, input: { ...architecture.input, scale: lent.scale } } };
};

export const loadDrafter = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  target: LanguageModel,
  options: LoadModelOptions = {},
): Promise<BlockDrafter | MarkovDrafter | FeatureDrafter> => {
  const { signal, precision, onProgress } = options;
  if (!(target instanceof Transformer)) throw wrongTarget('this target lends no embedding');
  const family = withScale(readDrafter(configFor(checkpoint, target), checkpoint.tensors), target.architecture);
  const { architecture } = family;
  const spread = architecture.spreadOver !== null;
  checkPair(checkpoint.name, family, target);
  checkTensors(architecture, checkpoint.tensors, drafterExtras(family));
  const arena = new Arena(gpu);
  let drafter: AnyDrafter | null = null;
  let compiling: Promise<void> | null = null;
  try {
    const { tuning: lentTuning, ...lent } = target.lend();
    const prepared = await prepareWeights(gpu, arena, checkpoint, architecture, { precision, lent });
    checkAborted(signal);
    const { what, weights } = prepared;
    const tuning = { ...prepared.tuning, shapes: { ...lentTuning.shapes, ...prepared.tuning.shapes } };
    const tapLayers = family.tapLayers(target.layers);
    const parts = { gpu, architecture, weights, tuning, arena, target, tapLayers };
    const sinks = new Map(prepared.sinks);
    let compareMaps = (): void => {};
    const made = await gpu.allocating(what, () => {
      if (!spread) return makeDrafter(family, parts);
      const { reduced, fill, compare } = mapVocabulary(gpu, arena, family, checkpoint);
      const mapped = makeDrafter(family, { ...parts, reduced });
      if (checkpoint.tensors.has(MAP))
        sinks.set(MAP, (block) => {
          const absolute = checkpoint.format === 'gguf';
          mapped.ids = fill(Array.from(block.decode(), (entry, i) => (absolute ? entry : i + entry)));
        });
      else mapped.ids = fill(Array.from({ length: architecture.sizes.vocabulary }, (_, i) => i));
      sinks.set(COVERED, (block) => {
        const covered = block.decode();
        compareMaps = () => compare(covered); // once both have been read, in whatever order
      });
      return mapped;
    });
    for (const [name, sink] of divisorSinks(made)) sinks.set(name, sink);
    drafter = made;
    compiling = reportPipelines(gpu, onProgress, () => compile(made, target));
    await Promise.all([compiling, streamWeights(gpu, checkpoint, sinks, options)]);
    compareMaps();
    checkAborted(signal);
    if (gpu.failure) throw gpu.failure;
    return made;
  } catch (error) {
    await compiling?.catch(() => {}); // or it would allocate after this load has failed
    if (drafter) drafter[Symbol.dispose]();
    else arena.free();
    throw error;
  }
};
