// The oracle of Arbitrage (arXiv 2512.05033). Approximate, and for evaluation only. Draft and target both write every
// step, a reward model scores both, and the target's is committed where it scores more than τ better. It is an
// upper bound of the mean reward, not of accuracy, because the reward model errs too.
import { oracleScore } from '../decode/steps/oracle-score.ts';
import { defineRouter } from './define-router.ts';

export default defineRouter({
  id: 'oracle',
  title: 'Oracle (for evaluation: both models write every step)',
  summary:
    'Both models write every step, and the one with the higher reward stays: for evaluation, at the highest cost.',
  group: 'comparison',
  paper: 'https://arxiv.org/abs/2512.05033',
  needs: ['target', 'draft', 'prm'],
  knobs: {
    tau: {
      kind: 'number',
      label: 'Threshold: escalate where the target scores better by more than',
      min: -1,
      max: 1,
      step: 0.01,
      initial: 0,
    },
  },
  threshold: 'tau',
  escalates: 'high',
  reasons: { kept: "the target's step is no better", escalated: "the target's step is better" },
  async scorer(run, models) {
    const judge = await run.open('prm', { ahead: models.most.tokens });
    return { by: 'prm', ...oracleScore(models, judge) };
  },
});
