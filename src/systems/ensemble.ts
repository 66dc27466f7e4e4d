// An ensemble of language models, decoded the plain way (the baseline of CoS, arXiv 2502.01662). Every model reads
// every token, and the next one is drawn from the distribution r that they make together. The other ensemble systems
// are exact with respect to it: they have this distribution and, at temperature 0, these tokens.
import type { Commit, RoundContext } from '../decode/core/system.ts';
import type { EnsembleDecoder } from '../decode/ensemble/ensemble-decoder.ts';
import { defineEnsemble } from './define-ensemble.ts';

/** One token; `between` is called between the passes of two members. */
export const plainEnsembleRound = (
  decoder: EnsembleDecoder,
  context: RoundContext,
  between = (): void => {},
): Promise<Commit> => {
  for (const [i, member] of decoder.members.entries()) {
    if (i > 0) between();
    decoder.read(member);
  }
  return decoder.verify(context, { drafts: 0, bonus: true });
};

export default defineEnsemble({
  id: 'ensemble',
  title: 'Ensemble',
  summary: 'Several models vote on every token, and each of them reads every token.',
  round: (decoder) => (context) => plainEnsembleRound(decoder, context, () => decoder.submit()),
});
