// An exact system's answer, told in steps: what "target only" is, so that it can be set beside the systems that route.

import type { Commit, Generation, RoundContext, RunContext } from '../core/system.ts';
import type { StepModels } from './open-steps.ts';
import type { Boundary } from './step-boundary.ts';

/** The text is the system's own; only `most.steps` may end it sooner. */
export const inSteps = (
  { first, round }: Generation,
  run: RunContext,
  boundary: Boundary,
  most: StepModels['most'],
): Generation => {
  let step = 0;
  let open: number[] = [];
  let begin = performance.now();

  const tell = (commit: Commit, { emit, sequence }: Pick<RoundContext, 'emit' | 'sequence'>): Commit => {
    const close = (length: number, ends: 'delimiter' | 'stop' | 'length'): void => {
      const ids = open.slice(0, length);
      open = open.slice(length);
      const now = performance.now();
      emit({ type: 'step', step: ++step, by: 'target', tokens: length, ids, ends, ms: now - begin });
      begin = now;
    };
    const known = open.length;
    open.push(...commit.tokens);
    for (let cut = boundary.cut(open, most.tokens, known); cut; cut = boundary.cut(open, most.tokens)) {
      close(cut.length, cut.ends);
      if (cut.ends === 'stop') return commit; // what a block holds behind it is nobody's
      if (step < most.steps) continue;
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
    first: first && tell(first, run),
    round: async (context) => tell(await round(context), context),
  };
};
