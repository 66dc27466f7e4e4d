// The plain ensemble with the passes of all models in one submit, so that the device does not wait for the host between
// them. Exact: it computes what `ensemble` computes, in the same order.
import { defineEnsemble } from './define-ensemble.ts';
import { plainEnsembleRound } from './ensemble.ts';

export default defineEnsemble({
  id: 'ensemble-parallel',
  title: 'Ensemble, one submit',
  summary: 'The same vote, with the passes of all models in one submission to the GPU.',
  round: (decoder) => (context) => plainEnsembleRound(decoder, context),
});
