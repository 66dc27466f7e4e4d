// Random routing: a share of the steps goes to the target, whatever they say. What a judge is measured against.
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  share: { kind: 'number', label: 'Share of steps to escalate', min: 0, max: 1, step: 0.01, initial: 0.5 },
  ...stepKnobs,
} as const;

export default {
  id: 'random',
  title: 'Random routing',
  summary: 'Chance escalates a share of the steps: what any rule must beat.',
  group: 'comparison',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  uses: NESTED_USES,
  remote: true,
  knobs,
  escalates: 'low',
  threshold: 'share',
  fit: fitInner,
  async start(run) {
    const { chanceAt, openSteps, route } = await import('../decode/steps/step-systems.ts');
    const { share: threshold } = run.knobs;
    const models = await openSteps(run, run.knobs, innerSystem(run.knobs));
    return {
      first: null,
      round: route(run, {
        ...models,
        async rule({ context: { sequence } }) {
          const score = chanceAt(sequence.sampling.seed, sequence.tokens.length);
          return { by: 'draft', accept: score >= threshold, score, threshold, reason: 'a coin was tossed' };
        },
      }),
    };
  },
} satisfies DecodingSystem<typeof knobs>;
