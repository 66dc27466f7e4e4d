// RSD, reward-guided speculative decoding (arXiv 2501.19324). Approximate. The draft writes a step, a process reward model
// scores it, and the step stays where the reward reaches δ; otherwise the target writes it.
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  delta: { kind: 'number', label: 'δ: least reward of a step that stays', min: 0, max: 1, step: 0.01, initial: 0.7 },
  ...stepKnobs,
} as const;

export default {
  id: 'rsd',
  title: 'RSD',
  summary: 'The draft writes steps; a reward model lets the good ones stay, and the target writes the others.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2501.19324',
  guarantee: 'approximate',
  needs: ['target', 'draft', 'prm'],
  uses: NESTED_USES,
  remote: true,
  knobs,
  escalates: 'low',
  threshold: 'delta',
  fit: fitInner,
  async start(run) {
    const { openSteps, route, scoredBy } = await import('../decode/steps/step-systems.ts');
    const threshold = run.knobs.delta;
    const judge = await run.open('prm', { ahead: run.knobs['step-tokens'] });
    const rule = scoredBy('prm', judge, (score) => ({
      accept: score >= threshold,
      threshold,
      reason: score >= threshold ? 'the reward reaches δ' : 'the reward is below δ',
    }));
    return { first: null, round: route(run, { ...(await openSteps(run, run.knobs, innerSystem(run.knobs))), rule }) };
  },
} satisfies DecodingSystem<typeof knobs>;
