// Who writes a step in place of the draft: the target through an exact system (nested-system.ts), the target by
// candidates of its own, or a target on another machine.
import type { RemoteTarget } from '../core/remote-target.ts';
import type { Commit, RoundContext } from '../core/system.ts';
import type { Candidate, Candidates } from './candidates.ts';
import type { SelectCandidate } from './select-candidate.ts';
import { BLANK_LINE, type StepEnd } from './step-boundary.ts';

/** A part of a step; the last one has `ends`. */
export interface StepPart {
  readonly commit: Commit;
  readonly ends: StepEnd | null;
  /** With the last part: tokens that the target wrote for the step, where they are more than the step itself. */
  readonly written?: number;
}

export type StepRounds = (context: RoundContext) => Promise<StepPart>;

export interface StepWriter {
  /**
   * Begins a step of at most `most` tokens after the sequence as it stands, in place of the `refused` one. Null: the
   * writer cannot be reached.
   */
  begin(step: number, most: number, context: RoundContext, refused: readonly number[]): Promise<StepRounds | null>;
}

/** A step as far as the budget reaches; one that is cut ends there. */
export const withinBudget = (tokens: readonly number[], ends: StepEnd, budget: number) =>
  tokens.length > budget ? { kept: tokens.slice(0, budget), ends: 'length' as const } : { kept: tokens, ends };

/** Marks every token of an escalated step as the target's, also those that were drafted inside the nested system. */
export const routed = ({ tokens, scores }: Pick<Commit, 'tokens' | 'scores'>): Commit => ({
  tokens,
  source: tokens.map(() => 'routed' as const),
  scores,
});

/** The target draws candidates, and the selected one is the step. */
export const candidateWriter = (candidates: Candidates, select: SelectCandidate): StepWriter => ({
  async begin(step, most) {
    return async (context) => {
      const written = await candidates.write(context.sequence.tokens, most, { ...context, step });
      if (!written) throw new Error('the context of the target is full');
      const chosen = await select(written);
      candidates.keep(chosen);
      const { tokens, logprobs, ends: whole } = written[chosen] as Candidate;
      const { kept, ends } = withinBudget(tokens, whole, context.sequence.budget);
      const scores = logprobs.slice(0, kept.length).map((logprob) => ({ logprob, top: [] }));
      return { commit: routed({ tokens: kept, scores }), ends, written: candidates.written };
    };
  },
});

/** A target on another machine. Its step arrives as one part. */
export const remoteWriter = (remote: RemoteTarget): StepWriter => ({
  async begin(_step, most, { sequence, emit, signal }) {
    const { tokens, promptLength, budget, sampling } = sequence;
    const options = { promptLength, delimiter: BLANK_LINE, maxTokens: Math.min(most, budget), sampling, signal, emit };
    const step = await remote.writeStep(tokens, options);
    if (!step) return null;
    const ends = ({ delimiter: 'delimiter', end: 'stop', length: 'length' } as const)[step.finish];
    return async () => ({ commit: routed({ tokens: step.tokens, scores: null }), ends });
  },
});
