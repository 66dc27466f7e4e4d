// Speculative decoding of an ensemble, which the CoS paper (arXiv 2502.01662) calls SD. Exact with respect to r, the
// distribution of all models together. The smallest model drafts γ tokens from its own distribution q, every model
// reads them, and each is kept with probability min(1, r/q); a rejected one is replaced from norm(max(0, r − q)). After
// drafts that are all kept, a bonus token is drawn from r, for which the smallest model too reads its last draft.
import type { NumberKnob } from '../decode/core/knobs.ts';
import type { EnsembleDecoder, Member } from '../decode/ensemble/ensemble-decoder.ts';
import { defineEnsemble } from './define-ensemble.ts';

const MOST = 15;

export const gammaKnob = {
  kind: 'number',
  label: 'γ, tokens a draft',
  min: 1,
  max: MOST,
  step: 1,
  initial: 5,
  oneDraft: 1,
} as const satisfies NumberKnob;

/** The smallest member drafts and the others read. Returns what to decide on. */
export const propose = (
  decoder: EnsembleDecoder,
  gamma: number,
  bonus: boolean,
): { drafts: number; bonus: boolean } => {
  const [proposer] = decoder.bySize as readonly [Member];
  const drafts = Math.min(gamma, decoder.room);
  decoder.draft(proposer, drafts);
  // Where the budget has no room for a bonus token, none is drawn.
  const decision = { drafts, bonus: bonus && decoder.room > 0 };
  for (const member of decoder.members) decoder.read(member, decision.bonus ? 0 : 1);
  return decision;
};

export default defineEnsemble({
  id: 'ensemble-speculative',
  title: 'Ensemble, speculative',
  summary: 'The smallest model writes ahead; all models together decide on what it wrote.',
  knobs: { gamma: gammaKnob },
  drafts: () => MOST + 1,
  round:
    (decoder, { knobs }) =>
    (context) =>
      decoder.verify(context, propose(decoder, knobs.gamma, true)),
});
