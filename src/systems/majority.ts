// Self-consistency (arXiv 2203.11171). Approximate. Several answers are drawn as one batch; the result that most of them
// come to wins, and of the answers that have it the first one is given.
import type { DecodingSystem } from '../decode/core/system.ts';
import { sampleKnobs } from './sample-knobs.ts';

export default {
  id: 'majority',
  title: 'Majority of n answers',
  summary: 'Several answers are drawn at once; the result that most of them agree on wins.',
  group: 'comparison',
  paper: 'https://arxiv.org/abs/2203.11171',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  knobs: sampleKnobs,
  async start(run) {
    const { resultOf, sampleAnswers } = await import('../decode/steps/step-systems.ts');
    const round = await sampleAnswers(run, run.knobs, async (answers) => {
      const results = answers.map(({ tokens }) => resultOf(tokens, run));
      const votes = results.map((result) => results.filter((other) => other === result).length);
      const most = Math.max(...votes);
      const chosen = votes.indexOf(most);
      const reason = `${most} of ${answers.length} answers come to the same result`;
      return { chosen, score: most / answers.length, reason, by: run.knobs.by };
    });
    return { first: null, round };
  },
} satisfies DecodingSystem<typeof sampleKnobs>;
