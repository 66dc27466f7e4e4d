// The oracle of Arbitrage (arXiv 2512.05033). Approximate, and for evaluation only: draft and target both write every step,
// the reward model scores both, and the target's stays where it scores more than τ better. No router can route better by
// this judge, and none costs more.
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  tau: {
    kind: 'number',
    label: 'τ: escalate where the target scores better by more than',
    min: -1,
    max: 1,
    step: 0.01,
    initial: 0,
  },
  ...stepKnobs,
} as const;

export default {
  id: 'oracle',
  title: 'Oracle (for evaluation: both models write every step)',
  summary: 'Both models write every step and the better one stays: the best a router could do, at the highest cost.',
  group: 'comparison',
  paper: 'https://arxiv.org/abs/2512.05033',
  guarantee: 'approximate',
  needs: ['target', 'draft', 'prm'],
  uses: NESTED_USES,
  knobs,
  escalates: 'high',
  threshold: 'tau',
  fit: fitInner,
  async start(run) {
    const { oracleRule, openSteps, route } = await import('../decode/steps/step-systems.ts');
    const judge = await run.open('prm', { ahead: run.knobs['step-tokens'] });
    const models = await openSteps(run, run.knobs, innerSystem(run.knobs));
    return { first: null, round: route(run, { ...models, ...oracleRule(models, judge, run.knobs.tau) }) };
  },
} satisfies DecodingSystem<typeof knobs>;
