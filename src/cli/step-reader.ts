// Which loaded model's tokens a step system decodes. Where draft and target have different vocabularies, these are the
// draft's: judges read them too, and the target is sent text.
import { type LoadedModel, type LoadedModels, readerOf } from '../engine/load/loaded-models.ts';
import { checkVocabulary } from '../engine/load/vocabulary.ts';

/** The model whose tokens the text of a step system is made of. For every other system it is `readerOf`. */
export const stepReaderOf = (models: LoadedModels): LoadedModel | undefined => {
  const { target, draft } = models;
  try {
    if (target && draft) checkVocabulary(target, draft);
    return readerOf(models);
  } catch {
    return draft;
  }
};
