// Routing without a judge. Approximate. A step is kept where the draft was sure of each of its tokens. It costs
// nothing, so a judge is worth its time only where it routes better than this.
import { defineRouter } from './define-router.ts';

export default defineRouter({
  id: 'confidence',
  title: "The draft's confidence",
  summary: 'A step stays if the draft gave each token enough probability: the baseline without a judge.',
  group: 'comparison',
  paper: '',
  needs: ['target', 'draft'],
  remote: true,
  knobs: {
    tau: {
      kind: 'number',
      label: 'Threshold: least log-probability of any token in a step that stays',
      min: -30,
      max: 0,
      step: 0.01,
      initial: -0.11,
    },
  },
  threshold: 'tau',
  escalates: 'low',
  reasons: { kept: 'the draft was sure of every token', escalated: 'the draft was unsure of a token' },
  scorer: () => ({
    by: 'draft',
    score: async ({ candidates: [candidate] }) => ({ score: Math.min(...(candidate?.logprobs ?? [])) }),
  }),
});
