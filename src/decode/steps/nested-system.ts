// The target writes an escalated step through an exact system. A step continues a conversation, so the nested system
// begins where its cursors stand; its rounds are rounds of the run, so an escalated step streams.
import type { Cursor } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';
import { fittedKnobs, resolveKnobs } from '../core/knobs.ts';
import type {
  Commit,
  Cursors,
  DecodingSystem,
  Generation,
  RoundContext,
  RunContext,
  Sequence,
} from '../core/system.ts';
import type { StepBoundary } from './step-boundary.ts';
import { routed, type StepRounds, type StepWriter } from './step-writer.ts';

/** Marks the events of a nested system with the step that they belong to. */
const withStep =
  (emit: Emit, step: number): Emit =>
  (event) =>
    emit({ ...event, step } as typeof event);

type Role = keyof Cursors;

export class NestedSystem implements StepWriter {
  readonly #run: RunContext;
  readonly #system: DecodingSystem;
  readonly #boundary: StepBoundary;
  readonly #ahead: number;
  readonly #cursors = new Map<Role, Cursors[Role]>();
  /** The step before. It knows what the system chose for the whole answer, such as a block size. */
  #before: Generation | null = null;

  /** `draft`: the cursor that is open already. `ahead`: rows that a step may need beyond the answer's end. */
  constructor(run: RunContext, system: DecodingSystem, boundary: StepBoundary, draft: Cursor | null, ahead: number) {
    this.#run = run;
    this.#system = system;
    this.#boundary = boundary;
    this.#ahead = ahead;
    if (draft) this.#cursors.set('draft', draft);
  }

  async begin(step: number, most: number, { sequence }: RoundContext, refused: readonly number[]): Promise<StepRounds> {
    return this.write(step, most, sequence, refused);
  }

  /** The rounds of a step that continues `outer`. The caller must append to `outer` what they commit. */
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
      const generation = await this.#start(sequence, refused, context.emit);
      round = generation.round;
      return generation.first ?? round(context);
    };
    return async (outside) => {
      const { signal } = outside;
      const commit = await next({ round: outside.round, sequence, signal, emit: withStep(outside.emit, step) });
      signal.throwIfAborted();
      const text = [...sequence.tokens.slice(base), ...commit.tokens];
      const known = sequence.tokens.length - base;
      const complete = this.#boundary.firstStep(text, most, known);
      const kept = complete ? complete.length - known : commit.tokens.length;
      if (complete) this.forget(base + complete.length);
      const part = { tokens: commit.tokens.slice(0, kept), scores: commit.scores?.slice(0, kept) ?? null };
      return { commit: routed(part), ends: complete?.ends ?? null };
    };
  }

  /**
   * Drops what was computed beyond these tokens. The last one is read again, because its row may depend on its
   * successor.
   */
  forget(tokens: number): void {
    for (const cursor of this.#cursors.values())
      if ('rewind' in cursor) cursor.rewind(Math.min(cursor.length, tokens - 1));
  }

  async #start(sequence: Sequence, refused: readonly number[], emit: Emit): Promise<Generation> {
    const { models } = this.#run;
    const knobs = resolveKnobs({ ...this.#system, knobs: fittedKnobs(this.#system, models) }, this.#before?.chosen);
    const open: RunContext['open'] = async (role, options) => {
      const known = this.#cursors.get(role);
      const cursor = known ?? (await this.#run.open(role, { ...options, ahead: this.#ahead }));
      this.#cursors.set(role, cursor);
      if ('rewind' in cursor) cursor.rewind(Math.min(cursor.length, sequence.tokens.length - 1));
      return cursor as Cursors[typeof role];
    };
    this.#before = await this.#system.start({ ...this.#run, knobs, sequence, refused, emit, open });
    return this.#before;
  }
}
