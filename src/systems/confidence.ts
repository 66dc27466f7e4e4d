// Routing without a judge: a step stays where the draft was sure of each of its tokens. It costs nothing, so a judge has
// to beat it.
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  tau: {
    kind: 'number',
    label: 'τ: least log-probability of any token in a step that stays',
    min: -30,
    max: 0,
    step: 0.01,
    initial: -0.7,
  },
  ...stepKnobs,
} as const;

export default {
  id: 'confidence',
  title: "The draft's confidence",
  summary: 'A step stays where the draft was sure of every token: the least that a judge must beat.',
  group: 'comparison',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  uses: NESTED_USES,
  remote: true,
  knobs,
  escalates: 'low',
  threshold: 'tau',
  fit: fitInner,
  async start(run) {
    const { openSteps, route } = await import('../decode/steps/step-systems.ts');
    const { tau: threshold } = run.knobs;
    const models = await openSteps(run, run.knobs, innerSystem(run.knobs));
    return {
      first: null,
      round: route(run, {
        ...models,
        async rule({ candidates: [candidate] }) {
          const score = Math.min(...(candidate?.logprobs ?? []));
          const accept = score >= threshold;
          const reason = accept ? 'the draft was sure of every token' : 'the draft was unsure of a token';
          return { by: 'draft', accept, score, threshold, reason };
        },
      }),
    };
  },
} satisfies DecodingSystem<typeof knobs>;
