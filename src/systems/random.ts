// Random routing. Approximate. A share of the steps goes to the target, whatever they say: a router must do better at
// the same share. The seed and the step's place in the text decide, so a run can be repeated.
import { chanceAt } from '../decode/core/draft-sampling.ts';
import { defineRouter } from './define-router.ts';

export default defineRouter({
  id: 'random',
  title: 'Random routing',
  summary: 'A random share of the steps is escalated: the baseline for every rule.',
  group: 'comparison',
  paper: '',
  needs: ['target', 'draft'],
  remote: true,
  knobs: {
    share: { kind: 'number', label: 'Share of steps to escalate', min: 0, max: 1, step: 0.01, initial: 0.5 },
  },
  threshold: 'share',
  escalates: 'low',
  reasons: { kept: 'a coin was tossed', escalated: 'a coin was tossed' },
  scorer: () => ({
    by: 'draft',
    score: async ({ context: { sequence } }) => ({
      score: chanceAt(sequence.sampling.seed, sequence.tokens.length),
    }),
  }),
});
