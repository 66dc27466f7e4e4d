// Draws several whole answers at once and gives one of them: what self-consistency and best-of-n share. The answers are
// candidate steps that end where answers end.
import type { Role } from '../../trace/index.ts';
import { candidateSamplings, draftSampling } from '../core/draft-sampling.ts';
import { readPrompt } from '../core/prefill.ts';
import type { Commit, Round, RunContext } from '../core/system.ts';
import { type Candidate, type CandidateOptions, Candidates } from './candidates.ts';

export interface SampleKnobs {
  readonly n: number;
  readonly temperature: number;
  readonly 'top-p': number;
  readonly by: 'draft' | 'target';
}

/** One answer of several. */
export interface ChosenAnswer {
  readonly chosen: number;
  /** Null where none could be scored. */
  readonly score: number | null;
  readonly reason: string;
  /** The model that scored the answers. */
  readonly by: Role;
}

/** One round: draws all answers, and commits the chosen one. */
export const sampleAnswers = async (
  run: RunContext,
  { n, temperature, 'top-p': topP, by }: SampleKnobs,
  choose: (answers: readonly Candidate[]) => Promise<ChosenAnswer>,
): Promise<Round> => {
  const { sequence, models, stopTokens } = run;
  const model = models[by];
  if (!model) throw new Error(`no ${by} to draw answers from`);
  const room = sequence.budget;
  const cursor = await run.open(by, n > 1 ? { forks: { count: n, room } } : {});
  await readPrompt(run, cursor, by);
  const sampling = { ...sequence.sampling, temperature, topP };
  const samplings = candidateSamplings(by === 'draft' ? draftSampling(sampling) : sampling, n);
  const boundary: CandidateOptions['boundary'] = {
    firstStep(tokens, most, known = 0) {
      const stop = tokens.findIndex((token, i) => i >= known && stopTokens.has(token));
      if (stop >= 0 && stop < most) return { length: stop + 1, ends: 'stop' };
      return tokens.length >= most ? { length: most, ends: 'length' } : null;
    },
  };
  const answers = new Candidates({ by, model, cursor, samplings, boundary, room, grounds: false, pools: false });

  return async (context): Promise<Commit> => {
    const begin = performance.now();
    const { emit, round } = context;
    const written = await answers.write(context.sequence.tokens, context.sequence.budget, { ...context, step: 1 });
    if (!written) return { tokens: [], source: [], scores: [], last: true };
    const asked = performance.now();
    const { chosen, score, reason, by: judge } = await choose(written);
    const judge_ms = performance.now() - asked;
    answers.keep(chosen);
    emit({ type: 'route', round, step: 1, by: judge, to: by, score, threshold: 0, reason, chosen, judge_ms });
    const { tokens, logprobs, ends } = written[chosen] as Candidate;
    const ms = performance.now() - begin;
    const byTarget = by === 'target' && { written: answers.written };
    emit({ type: 'step', step: 1, by, tokens: tokens.length, ids: tokens, ends, ms, ...byTarget });
    const source = tokens.map(() => (by === 'draft' ? ('drafted' as const) : ('sampled' as const)));
    return { tokens, source, scores: logprobs.map((logprob) => ({ logprob, top: [] })), last: true };
  };
};
