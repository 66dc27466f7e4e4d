// Reports an exact system's answer in steps, so that "target only" can be compared with systems that route.

import type { Commit, Generation, RoundContext, RunContext } from '../core/system.ts';
import type { StepModels } from './open-steps.ts';
import type { StepBoundary } from './step-boundary.ts';

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
    const close = (length: number, ends: 'delimiter' | 'stop' | 'length'): void => {
      const ids = open.slice(0, length);
      open = open.slice(length);
      const now = performance.now();
      emit({ type: 'step', step: ++step, by: 'target', tokens: length, ids, ends, ms: now - begin });
      begin = now;
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
    return commit;
  };

  return {
    first: first && report(first, run),
    round: async (context) => report(await round(context), context),
  };
};
