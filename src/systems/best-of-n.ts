// Best of n. Approximate. Several answers are drawn as one batch, a process reward model scores their steps, and the
// answer with the best reward is given.
import type { DecodingSystem, JudgedStep } from '../decode/core/system.ts';
import { sampleAnswers } from '../decode/steps/sampled-answers.ts';
import { StepBoundary, splitIntoSteps } from '../decode/steps/step-boundary.ts';
import { sampleKnobs } from './sample-knobs.ts';
import { limitKnobs } from './step-knobs.ts';

const knobs = {
  ...sampleKnobs,
  reward: {
    kind: 'choice',
    label: "An answer's reward: its last step's, or its worst step's",
    options: ['last', 'worst'],
    initial: 'last',
  },
  'step-tokens': limitKnobs['step-tokens'],
  delimiter: limitKnobs.delimiter,
} as const;

export default {
  id: 'best-of-n',
  title: 'Best of n answers',
  summary: 'Several answers are drawn at once; the one with the highest reward wins.',
  group: 'comparison',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft', 'prm'],
  knobs,
  async start(run) {
    const { by, reward, delimiter, 'step-tokens': most } = run.knobs;
    const boundary = new StepBoundary(run, delimiter);
    const judge = await run.open('prm');
    const problem = [...run.sequence.tokens];
    const rewardOf = async (answer: readonly number[]): Promise<number> => {
      const steps = splitIntoSteps(boundary, answer, most).map((tokens): JudgedStep => ({ tokens, by }));
      const asked = reward === 'last' ? steps.slice(-1) : steps;
      const scores: number[] = [];
      for (const step of asked)
        scores.push(...(await judge.score(problem, steps.slice(0, steps.indexOf(step)), [step.tokens], run.signal)));
      return Math.min(...scores);
    };
    const round = await sampleAnswers(run, run.knobs, async (answers) => {
      const rewards: number[] = [];
      for (const { tokens } of answers) rewards.push(await rewardOf(tokens));
      const score = Math.max(...rewards);
      const chosen = rewards.indexOf(score);
      return { chosen, score, reason: `the best reward of ${answers.length}`, by: 'prm' };
    });
    return { first: null, round };
  },
} satisfies DecodingSystem<typeof knobs>;
