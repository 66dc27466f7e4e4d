// A drafter that is a part of its target's checkpoint is loaded from where the target is: of the files, only its own
// tensors are read again.
import { refuse } from '../base/refuse.ts';
import type { ModelSources } from './sources.ts';

/** In place of an address. */
export const BUILT_IN = 'built-in';

/** The same sources, with the target's in place of that word. */
export const withBuiltIn = (sources: ModelSources): ModelSources => {
  const { target, mtp } = sources;
  if (mtp !== BUILT_IN) return sources;
  if (target === undefined || (typeof target === 'object' && 'model' in target))
    throw refuse(
      'a built-in drafter is read from the files of its target, which are not named',
      'Name them as `target`.',
    );
  return { ...sources, mtp: target };
};
