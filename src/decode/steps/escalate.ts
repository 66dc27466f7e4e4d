// Who writes a step in the draft's place. Usually an exact system, nested: a step is a conversation continued, so it begins
// where its cursors stand, and its rounds are rounds of the run, which is how an escalated step streams. Or candidates of
// the target's own; or a target on another machine.
import type { Cursor } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';
import { fittedKnobs, type KnobValue, resolveKnobs } from '../core/knobs.ts';
import type { RemoteTarget } from '../core/remote-target.ts';
import type { Commit, Cursors, DecodingSystem, RoundContext, RunContext, Sequence } from '../core/system.ts';
import type { Candidate, Candidates } from './candidates.ts';
import { BLANK_LINE, type Boundary, type StepEnd } from './step-boundary.ts';

/** A part of a step; `ends` with the last one. */
export interface StepPart {
  readonly commit: Commit;
  readonly ends: StepEnd | null;
  /** Tokens that the target wrote for it, kept or not; with the last part, where they are not the step's own. */
  readonly written?: number;
}

export type StepRounds = (context: RoundContext) => Promise<StepPart>;

export interface Author {
  /**
   * Begins a step of at most `most` tokens behind the sequence as it stands, in place of the one that was refused; null:
   * nobody is there to write it.
   */
  begin(step: number, most: number, context: RoundContext, refused: readonly number[]): Promise<StepRounds | null>;
}

/** As part of an answer: every token of an escalated step is the target's, however it was drafted in there. */
export const routed = ({ tokens, scores }: Pick<Commit, 'tokens' | 'scores'>): Commit => ({
  tokens,
  source: tokens.map(() => 'routed' as const),
  scores,
});

/** Marks the events of a nested system with the step that they belong to. */
const within =
  (emit: Emit, step: number): Emit =>
  (event) =>
    emit({ ...event, step } as typeof event);

type Role = keyof Cursors;

/** The target, by an exact system. */
export class Nested implements Author {
  readonly #run: RunContext;
  readonly #system: DecodingSystem;
  readonly #boundary: Boundary;
  readonly #ahead: number;
  readonly #cursors = new Map<Role, Cursors[Role]>();
  /** What the system chose when it began first: a block size is chosen once for an answer. */
  #settled: Readonly<Record<string, KnobValue>> = {};

  /** `draft`: the cursor that is there already. `ahead`: rows that a step may need beyond the answer's end. */
  constructor(run: RunContext, system: DecodingSystem, boundary: Boundary, draft: Cursor | null, ahead: number) {
    this.#run = run;
    this.#system = system;
    this.#boundary = boundary;
    this.#ahead = ahead;
    if (draft) this.#cursors.set('draft', draft);
  }

  async begin(step: number, most: number, { sequence }: RoundContext, refused: readonly number[]): Promise<StepRounds> {
    return this.write(step, most, sequence, refused);
  }

  /** The rounds of a step behind `outer`, which must grow by what they commit. */
  write(step: number, most: number, outer: Sequence, refused: readonly number[]): StepRounds {
    const base = outer.tokens.length;
    const sequence: Sequence = {
      ...outer,
      tokens: outer.tokens,
      get budget() {
        return Math.min(outer.budget, base + most - outer.tokens.length);
      },
    };
    let round: ((context: RoundContext) => Promise<Commit>) | null = null;
    const next = async (context: RoundContext): Promise<Commit> => {
      if (round) return round(context);
      const generation = await this.#start({ sequence, refused, emit: context.emit });
      round = generation.round;
      return generation.first ?? round(context);
    };
    return async (outside) => {
      const { signal } = outside;
      const commit = await next({ round: outside.round, sequence, signal, emit: within(outside.emit, step) });
      signal.throwIfAborted();
      const text = [...sequence.tokens.slice(base), ...commit.tokens];
      const known = sequence.tokens.length - base;
      const cut = this.#boundary.cut(text, most, known);
      const kept = cut ? cut.length - known : commit.tokens.length;
      if (cut) this.forget(base + cut.length);
      const part = { tokens: commit.tokens.slice(0, kept), scores: commit.scores?.slice(0, kept) ?? null };
      return { commit: routed(part), ends: cut?.ends ?? null };
    };
  }

  /** Forgets what was computed beyond these tokens, whose last one is read again: a row may hold its successor too. */
  forget(tokens: number): void {
    for (const cursor of this.#cursors.values())
      if ('rewind' in cursor) cursor.rewind(Math.min(cursor.length, tokens - 1));
  }

  async #start({ sequence, refused, emit }: Required<Pick<RunContext, 'sequence' | 'refused' | 'emit'>>) {
    const { models } = this.#run;
    const knobs = resolveKnobs({ ...this.#system, knobs: fittedKnobs(this.#system, models) }, this.#settled);
    const open: RunContext['open'] = async (role, options) => {
      const known = this.#cursors.get(role);
      const cursor = known ?? (await this.#run.open(role, { ...options, ahead: this.#ahead }));
      this.#cursors.set(role, cursor);
      if ('rewind' in cursor) cursor.rewind(Math.min(cursor.length, sequence.tokens.length - 1));
      return cursor as Cursors[typeof role];
    };
    const listen: Emit = (event) => {
      if (event.type === 'block-size') this.#settled = { candidates: [event.size] };
      emit(event);
    };
    return this.#system.start({ ...this.#run, knobs, sequence, refused, emit: listen, open });
  }
}

/** The target, by candidates of its own, of which one is chosen. */
export const amongCandidates = (
  candidates: Candidates,
  choose: (candidates: readonly Candidate[]) => Promise<number>,
): Author => ({
  async begin(step, most) {
    return async (context) => {
      const written = await candidates.write(context.sequence.tokens, most, { ...context, step });
      if (!written) throw new Error('the context of the target is full');
      const chosen = await choose(written);
      candidates.keep(chosen);
      const { tokens, logprobs, ends } = written[chosen] as Candidate;
      const kept = tokens.slice(0, context.sequence.budget);
      const scores = logprobs.slice(0, kept.length).map((logprob) => ({ logprob, top: [] }));
      return { commit: routed({ tokens: kept, scores }), ends, written: candidates.written };
    };
  },
});

/** The target of another machine. Its step arrives whole. */
export const remotely = (remote: RemoteTarget): Author => ({
  async begin(_step, most, { sequence, emit, signal }) {
    const { sampling } = sequence;
    const options = { delimiter: BLANK_LINE, maxTokens: Math.min(most, sequence.budget), sampling, signal, emit };
    const step = await remote.writeStep(sequence.tokens, options);
    if (!step) return null;
    const ends = ({ delimiter: 'delimiter', end: 'stop', length: 'length' } as const)[step.finish];
    return async () => ({ commit: routed({ tokens: step.tokens, scores: null }), ends });
  },
});
