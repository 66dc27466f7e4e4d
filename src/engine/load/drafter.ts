// Loads a drafter that reads its target's hidden states (DFlash, DSpark, EAGLE-3, MTP).
import { bad } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import { isDrafter } from '../../model/families/families.ts';
import type { BlockDrafter, FeatureDrafter, MarkovDrafter } from '../../model/interface.ts';
import { loadDrafter } from '../../model/load/load-drafter.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { Source } from '../../weights/open.ts';
import { loading, openSource } from './checkpoint.ts';
import type { LoadedDrafter, LoadedModel, LoadSourceOptions } from './loaded-models.ts';

/** Of a checkpoint that is its target's, a drafter is a few tensors. */
const toRead = ({ config, tensors, bytes }: Checkpoint): number =>
  isDrafter(config)
    ? bytes
    : [...tensors.values()].reduce((sum, { name, bytes }) => sum + (name.startsWith('mtp.') ? bytes : 0), 0);

/** The checkpoint's config says of which kind it is. */
export const loadDrafterSource = async (
  gpu: Gpu,
  source: Source,
  target: LoadedModel,
  options: LoadSourceOptions,
): Promise<LoadedDrafter> => {
  const { signal, precision, onProgress } = options;
  return loading(source, options, async () => {
    using checkpoint = await openSource(source, options, toRead);
    const model = await loadDrafter(gpu, checkpoint, target.model, { precision, signal, onProgress });
    return { name: checkpoint.name, model };
  });
};

/** What a drafter is loaded as. */
export type DrafterKind = LoadedDrafter['model']['kind'];

/** So that the compiler misses a new one. */
const KINDS: { readonly [Kind in DrafterKind]: true } = { dflash: true, dspark: true, eagle3: true, mtp: true };
/** All of them. */
export const DRAFTER_KINDS = Object.keys(KINDS) as readonly DrafterKind[];

/** Of these drafters those that may be of this kind. */
type Kinds<Drafter extends { readonly kind: string }, Kind> = Drafter extends unknown
  ? Kind extends Drafter['kind']
    ? Drafter
    : never
  : never;

/** The drafter as one of `kind`. A drafter of the other kind is freed, and an error says so. */
export const asKind = <Kind extends DrafterKind>(
  { name, model }: LoadedDrafter,
  kind: Kind,
): LoadedDrafter<Kinds<BlockDrafter | MarkovDrafter | FeatureDrafter, Kind>> => {
  const isKind = (drafter: typeof model): drafter is Kinds<typeof model, Kind> => drafter.kind === kind;
  if (isKind(model)) return { name, model };
  model[Symbol.dispose]();
  throw bad(`${name} is a drafter for ${model.kind}, not for ${kind}`, `Load it under the role ${model.kind}.`);
};
