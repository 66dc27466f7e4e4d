// Naive CoS (arXiv 2502.01662). Exact with respect to r, the distribution of all models together. The smallest model
// drafts γ tokens from its own distribution q, the others read them, and each is kept with probability min(1, r/q); a
// rejected one is replaced from norm(max(0, r − q)). Unlike ensemble-speculative it draws no bonus token after drafts
// that are all kept.
import { defineEnsemble } from './define-ensemble.ts';
import { gammaKnob, propose } from './ensemble-speculative.ts';

export default defineEnsemble({
  id: 'cos-naive',
  title: 'CoS, naive',
  summary: 'The smallest model drafts and all models verify; a draft accepted whole brings no bonus token.',
  knobs: { gamma: gammaKnob },
  round:
    (decoder, { knobs }) =>
    (context) =>
      decoder.verify(context, propose(decoder, knobs.gamma, false)),
});
