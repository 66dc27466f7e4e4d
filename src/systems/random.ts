// Random routing: a share of the steps goes to the target, whatever they say. What a judge is measured against.
import type { DecodingSystem } from '../decode/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  share: { kind: 'number', label: 'Share of steps to escalate', min: 0, max: 1, step: 0.01, initial: 0.5 },
  ...stepKnobs,
} as const;

/** A number from 0 to 1 that a seed and a step's place in the text determine: mixed as in MurmurHash3's end. */
const chanceAt = (seed: number, position: number): number => {
  let x = (seed ^ Math.imul(position + 1, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};

export default {
  id: 'random',
  title: 'Random routing',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  uses: NESTED_USES,
  remote: true,
  knobs,
  fit: fitInner,
  async start(run) {
    const { openSteps, route } = await import('../decode/step-systems.ts');
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
