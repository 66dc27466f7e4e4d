// Self-consistency (arXiv 2203.11171). Approximate. Several answers are drawn as one batch. The result that most of
// them reach wins, and the first answer with that result is given.
import type { DecodingSystem } from '../decode/core/system.ts';
import { resultOf } from '../decode/steps/final-result.ts';
import { sampleAnswers } from '../decode/steps/sampled-answers.ts';
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
