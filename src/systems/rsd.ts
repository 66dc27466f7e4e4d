// RSD, reward-guided speculative decoding (arXiv 2501.19324). Approximate. The draft writes a step and a process reward
// model scores it. The step is kept where its reward reaches δ; otherwise the target writes the step anew. δ is .7 in
// the paper; ours was chosen on validation problems (docs/log/routers.md).
import { defineRouter, judgedBy } from './define-router.ts';

const delta = {
  kind: 'number',
  label: 'Threshold: least reward of a step that stays',
  min: 0,
  max: 1,
  step: 0.01,
  initial: 0.9,
} as const;

/** The initial δ where the judge reads the draft's hidden states; chosen on validation problems, too. */
const DELTA_BY_STATES = 0.87;

export default defineRouter({
  id: 'rsd',
  title: 'RSD',
  summary: 'The draft writes steps; a reward model lets the good ones stay, and the target writes the others.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2501.19324',
  needs: ['target', 'draft', 'prm'],
  remote: true,
  knobs: { delta },
  threshold: 'delta',
  escalates: 'low',
  reasons: { kept: 'the reward reaches the threshold', escalated: 'the reward is below it' },
  fit: ({ prm }) => (prm?.readsDraft ? { delta: { ...delta, initial: DELTA_BY_STATES } } : {}),
  ...judgedBy('prm'),
});
