// Reports an exact system's answer in steps, so that "target only" can be compared with systems that route.

import type { Commit, Generation, RoundContext, RunContext } from '../core/system.ts';
import type { StepModels } from './open-steps.ts';
import { stepEvent } from './route.ts';
import type { StepBoundary, StepEnd } from './step-boundary.ts';

/** Adds `step` events. The text is the system's own; it ends sooner only at `most.steps`. */
export const reportSteps = (
  { first, round }: Generation,
  run: RunContext,
  boundary: StepBoundary,
  most: StepModels['most'],
): Generation => {
  let step = 0;
  /** Tokens of the step that is not complete yet. */
  let open: number[] = [];
  let begin = performance.now();

  const report = (commit: Commit, { emit, sequence }: Pick<RoundContext, 'emit' | 'sequence'>): Commit => {
    const told = (length: number, ends: StepEnd) =>
      stepEvent(step + 1, { tokens: open.slice(0, length), by: 'target' }, { ends, begin });
    const close = (length: number, ends: StepEnd): void => {
      emit(told(length, ends));
      step++;
      open = open.slice(length);
      begin = performance.now();
    };
    const known = open.length;
    open.push(...commit.tokens);
    const { tokens: longest, steps } = most;
    for (
      let complete = boundary.firstStep(open, longest, known);
      complete;
      complete = boundary.firstStep(open, longest)
    ) {
      close(complete.length, complete.ends);
      if (complete.ends === 'stop') return commit; // a block may hold tokens after the end; the engine drops them
      if (step < steps) continue;
      const kept = commit.tokens.length - open.length;
      const { tokens, source, scores } = commit;
      open = [];
      return {
        tokens: tokens.slice(0, kept),
        source: source.slice(0, kept),
        scores: scores?.slice(0, kept) ?? null,
        last: true,
      };
    }
    if (commit.tokens.length >= sequence.budget && open.length > 0) close(open.length, 'length');
    return open.length > 0 ? { ...commit, unfinished: told(open.length, 'stop') } : commit;
  };

  return {
    first: first && report(first, run),
    round: async (context) => report(await round(context), context),
  };
};
