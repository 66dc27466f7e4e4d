// Arbitrage: advantage-aware routing (arXiv 2512.05033). Approximate. A router reads the draft's step and predicts,
// without running the target, how likely the target would write a better one. Above τ the target writes the step.
import { defineRouter, judgedBy } from './define-router.ts';

export default defineRouter({
  id: 'arbitrage',
  title: 'Arbitrage',
  summary: 'A router predicts whether the target would write a better step, without running the target.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2512.05033',
  needs: ['target', 'draft', 'router'],
  remote: true,
  knobs: {
    tau: {
      kind: 'number',
      label: 'Threshold: escalate where P(the target does better) is above',
      min: 0,
      max: 1,
      step: 0.01,
      initial: 0.06,
    },
  },
  threshold: 'tau',
  escalates: 'high',
  reasons: { kept: 'the target would hardly do better', escalated: 'the target would do better' },
  ...judgedBy('router'),
});
