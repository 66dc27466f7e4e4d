// Checks that two models which write one text mean the same by every token id: by the entries of their tokenizers, and
// by the size of the vocabulary when one has no tokenizer.
import { OutriderError } from '../../base/errors.ts';
import type { LoadedModel } from './loaded-models.ts';

/** A model, or a judge that reads the target's tokens. */
interface Reader extends Pick<LoadedModel, 'name' | 'tokenizer'> {
  readonly model: Pick<LoadedModel['model'], 'vocabulary'>;
}

const tokenText = (entry: string | null): string => (entry === null ? 'no token' : JSON.stringify(entry));

export const checkVocabulary = (target: Reader, draft: Reader): void => {
  const hint =
    'Models that decode together need one vocabulary: choose a draft of the same family. ' +
    "Step routers do without: load with vocabularies: 'own'.";
  const [mine, theirs] = [target.tokenizer, draft.tokenizer];
  if (mine && theirs)
    for (let id = 0; id < Math.max(mine.vocabulary, theirs.vocabulary); id++)
      if (mine.entry(id) !== theirs.entry(id))
        throw new OutriderError(
          'vocabulary-mismatch',
          `token ${id} is ${tokenText(mine.entry(id))} in ${target.name} and ${tokenText(theirs.entry(id))} in ${draft.name}`,
          hint,
        );
  const [wide, narrow] = [target.model.vocabulary, draft.model.vocabulary];
  if (wide !== narrow)
    throw new OutriderError(
      'vocabulary-mismatch',
      `token ${Math.min(wide, narrow)} is in the vocabulary of ${wide > narrow ? target.name : draft.name} only: ${target.name} has ${wide} tokens, ${draft.name} ${narrow}`,
      hint,
    );
};
