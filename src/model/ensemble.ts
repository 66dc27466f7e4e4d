// Ensembles on the device. A lazy chunk: a page that decodes one model alone does not fetch it.
import type { Gpu } from '../gpu/device.ts';
import type { Combination, Ensemble, LanguageModel, OpenEnsemble } from './model.ts';
import { refuse } from './refuse.ts';

export const joinModels = async (
  _gpu: Gpu,
  members: readonly LanguageModel[],
  _combination: Combination,
  _options: OpenEnsemble = {},
): Promise<Ensemble> => {
  throw refuse(`${members.length} models cannot be joined`);
};
