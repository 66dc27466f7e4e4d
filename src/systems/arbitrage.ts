// Arbitrage: advantage-aware routing (arXiv 2512.05033). Approximate. A router reads the step that the draft wrote and
// predicts whether the target would write a better one, without asking it; above τ the target does.
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  tau: {
    kind: 'number',
    label: 'τ: escalate where P(the target does better) is above',
    min: 0,
    max: 1,
    step: 0.01,
    initial: 0.5,
  },
  ...stepKnobs,
} as const;

export default {
  id: 'arbitrage',
  title: 'Arbitrage',
  summary: 'A router guesses whether the target would write a better step, without asking it.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2512.05033',
  guarantee: 'approximate',
  needs: ['target', 'draft', 'router'],
  uses: NESTED_USES,
  remote: true,
  knobs,
  escalates: 'high',
  threshold: 'tau',
  fit: fitInner,
  async start(run) {
    const { openSteps, route, scoredBy } = await import('../decode/steps/step-systems.ts');
    const threshold = run.knobs.tau;
    const judge = await run.open('router', { ahead: run.knobs['step-tokens'] });
    const rule = scoredBy('router', judge, (score) => ({
      accept: score <= threshold,
      threshold,
      reason: score <= threshold ? 'the target would hardly do better' : 'the target would do better',
    }));
    return { first: null, round: route(run, { ...(await openSteps(run, run.knobs, innerSystem(run.knobs))), rule }) };
  },
} satisfies DecodingSystem<typeof knobs>;
