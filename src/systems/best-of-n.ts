// Best of n. Approximate. Several answers are drawn as one batch, a process reward model scores their steps, and the
// answer with the best reward is given.
import type { DecodingSystem, JudgedStep } from '../decode/core/system.ts';
import { scoresOf, TOO_LONG } from '../decode/steps/judge-score.ts';
import { sampleAnswers } from '../decode/steps/sampled-answers.ts';
import { checkDelimiter, StepBoundary, splitIntoSteps } from '../decode/steps/step-boundary.ts';
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
  check(run) {
    checkDelimiter(run);
  },
  async start(run) {
    const { by, reward, delimiter, 'step-tokens': most } = run.knobs;
    const boundary = new StepBoundary(run, delimiter);
    const judge = await run.open('prm');
    const problem = [...run.sequence.tokens];
    /** Null where the judge cannot read all that it is asked about. */
    const rewardOf = async (answer: readonly number[]): Promise<number | null> => {
      const steps = splitIntoSteps(boundary, answer, most).map((tokens): JudgedStep => ({ tokens, by }));
      const asked = reward === 'last' ? steps.slice(-1) : steps;
      const scores: number[] = [];
      for (const step of asked) {
        const before = { problem, steps: steps.slice(0, steps.indexOf(step)) };
        const score = await scoresOf(judge, before, [step.tokens], run.signal);
        if (!score) return null;
        scores.push(...score);
      }
      return Math.min(...scores);
    };
    const round = await sampleAnswers(run, run.knobs, async (answers) => {
      const rewards: (number | null)[] = [];
      for (const { tokens } of answers) rewards.push(await rewardOf(tokens));
      const scored = rewards.filter((reward) => reward !== null);
      if (scored.length === 0) return { chosen: 0, ...TOO_LONG, by: 'prm' };
      const score = Math.max(...scored);
      return { chosen: rewards.indexOf(score), score, reason: `the best reward of ${scored.length}`, by: 'prm' };
    });
    return { first: null, round };
  },
} satisfies DecodingSystem<typeof knobs>;
