// Candidate steps: one, or k drawn from the same prefix as one batch that shares the prefix's keys and values. The
// model writes several tokens ahead on the device before the host reads any. Where a single candidate is kept, the
// tokens after its end begin the next step; all other tokens after an end are thrown away.
import type { Cursor, Drawn, Forward, LanguageModel, Sampling, Scores } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';
import { chainOf } from '../core/chain.ts';
import { extendCounted } from '../core/extend-counted.ts';
import type { CompleteStep, StepBoundary, StepEnd } from './step-boundary.ts';

/** A step that a model wrote. */
export interface Candidate {
  /** Including the delimiter. */
  readonly tokens: readonly number[];
  readonly ends: StepEnd;
  /** Each token's, under the model's unmodified distribution. */
  readonly logprobs: readonly number[];
  /** The share of each token's attention rollout that reaches prompt and accepted steps; empty where it was not requested. */
  readonly grounding: readonly number[];
  /** The mean of the tokens' last hidden states; null where it was not requested. */
  readonly pooled: Float32Array | null;
}

export interface CandidateOptions {
  /** The model that writes, for the trace. */
  readonly by: 'draft' | 'target';
  readonly model: LanguageModel;
  /** Opened with `forks`, where there are several candidates. */
  readonly cursor: Cursor;
  /** One for each candidate. */
  readonly samplings: readonly Sampling[];
  readonly boundary: Pick<StepBoundary, 'firstStep'>;
  /** Rows of a fork. */
  readonly room: number;
  /** The cursor was opened with `rollout`: the candidates' grounding is read. */
  readonly grounds: boolean;
  /** The cursor was opened with `pool`: the candidates' mean states are read. */
  readonly pools: boolean;
}

/** Tokens between two readbacks: each of them waits for the device. */
const TOKENS_A_READBACK = 8;

/** A candidate that is being written. */
interface CandidateSequence {
  readonly cursor: Cursor;
  readonly sampling: Sampling;
  readonly tokens: number[];
  readonly logprobs: number[];
  /** Null while the step is not complete. */
  end: CompleteStep | null;
}

/** Tokens that were written after the end of a step that was kept. */
interface Surplus {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

interface WriteContext {
  readonly step: number;
  readonly round: number;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export class Candidates {
  /** Tokens that the last `write` wrote, including those after the steps' ends. */
  written = 0;
  readonly #options: CandidateOptions;
  /** The candidates that were written last; empty once one was kept or all were dropped. */
  #sequences: readonly CandidateSequence[] = [];
  #base = 0;
  #surplus: Surplus | null = null;

  constructor(options: CandidateOptions) {
    this.#options = options;
  }

  /** Writes steps of at most `most` tokens that continue `text`; null where the model's context is full. */
  async write(text: readonly number[], most: number, context: WriteContext): Promise<readonly Candidate[] | null> {
    const { model, cursor, by } = this.#options;
    const begin = performance.now();
    const longest = Math.min(most, model.context - text.length);
    if (longest < 1) return null;
    this.#base = text.length;
    const surplus =
      this.#surplus && cursor.length === text.length + this.#surplus.tokens.length - 1 ? this.#surplus : null;
    this.#surplus = null;
    const passes = await (surplus
      ? this.#continue(surplus, text, longest, context.signal)
      : this.#begin(text, longest, context.signal));
    const candidates = await this.#read();
    const known = surplus ? Math.min(surplus.tokens.length, longest) : 0;
    this.written = this.#sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) - known;
    context.emit({
      type: 'candidates',
      round: context.round,
      step: context.step,
      by,
      tokens: candidates.map(({ tokens }) => tokens),
      written: this.written,
      passes,
      ms: performance.now() - begin,
    });
    return candidates;
  }

  async #begin(text: readonly number[], longest: number, signal: AbortSignal): Promise<number> {
    const { cursor, samplings, room, grounds } = this.#options;
    cursor.rewind(Math.min(cursor.length, text.length - 1));
    if (grounds) cursor.groundOn(text.length);
    const { last, passes } = await extendCounted(cursor, text.slice(cursor.length), { signal });
    const cursors = samplings.length > 1 ? cursor.fork(samplings.length, room) : [cursor];
    this.#sequences = cursors.map((each, i) => {
      const sampling = samplings[i] as Sampling;
      return { cursor: each, sampling, tokens: [], logprobs: [], end: null };
    });
    return passes + (await this.#writeSequences(last, longest, signal));
  }

  /** The surplus tokens of the candidate that was kept begin the next step. */
  async #continue(surplus: Surplus, text: readonly number[], longest: number, signal: AbortSignal): Promise<number> {
    const { cursor, samplings, boundary } = this.#options;
    const tokens = surplus.tokens.slice(0, longest);
    const logprobs = surplus.logprobs.slice(0, longest);
    cursor.rewind(Math.min(cursor.length, text.length + tokens.length - 1));
    this.#sequences = [
      { cursor, sampling: samplings[0] as Sampling, tokens, logprobs, end: boundary.firstStep(tokens, longest) },
    ];
    return this.#writeSequences(null, longest, signal);
  }

  get #reads(): boolean {
    return this.#options.grounds || this.#options.pools;
  }

  /** The text goes on with this candidate. */
  keep(chosen: number): void {
    const { cursor } = this.#options;
    const sequence = this.#sequences[chosen];
    if (!sequence?.end) throw new Error(`there is no candidate ${chosen} to keep`);
    const { length } = sequence.end;
    this.#sequences = [];
    if (sequence.cursor === cursor && !this.#reads && sequence.tokens.length > length) {
      this.#surplus = { tokens: sequence.tokens.slice(length), logprobs: sequence.logprobs.slice(length) };
      return;
    }
    sequence.cursor.rewind(Math.min(sequence.cursor.length, this.#base + length));
    if (sequence.cursor !== cursor) cursor.adopt(sequence.cursor);
  }

  /** The text goes on without the candidates. */
  drop(): void {
    const { cursor } = this.#options;
    for (const sequence of this.#sequences) if (sequence.cursor !== cursor) sequence.cursor[Symbol.dispose]();
    cursor.rewind(Math.min(cursor.length, this.#base));
    this.#sequences = [];
  }

  /** Writes every sequence to its end, and returns the number of passes. */
  async #writeSequences(head: Forward | null, most: number, signal: AbortSignal): Promise<number> {
    const { model, boundary } = this.#options;
    let passes = 0;
    let live = this.#sequences.filter(({ end }) => end === null);
    let heads: readonly Scores[] | null = head && live.map(() => head);
    const advance = (tokens: readonly (number | Drawn)[]): readonly Scores[] => {
      passes++;
      const chains = tokens.map((token) => chainOf([typeof token === 'number' ? token : token.token]));
      const rows = model.forward(live.map(({ cursor }, i) => ({ cursor, tree: chains[i] as (typeof chains)[number] })));
      for (const row of rows) row.accept([0]);
      return rows;
    };
    for (let written = live[0]?.tokens.length ?? 0; live.length > 0; ) {
      const count = Math.min(TOKENS_A_READBACK, most - written);
      const drawn: Drawn[] = [];
      for (let i = 0; i < count; i++) {
        const from: readonly Scores[] = heads ?? advance(live.map(({ tokens }) => tokens.at(-1) as number));
        const row: readonly Drawn[] = live.map(({ sampling }, j) => (from[j] as Scores).draw(0, sampling));
        drawn.push(...row);
        // A token's grounding and state are in its own row, so where they are requested, the last token is read too.
        heads = this.#reads || i < count - 1 ? advance(row) : null;
      }
      const { choices } = await model.gather(drawn, []);
      signal.throwIfAborted();
      choices.forEach(({ token, logprob }, i) => {
        const sequence = live[i % live.length] as CandidateSequence;
        sequence.tokens.push(token);
        sequence.logprobs.push(logprob);
      });
      for (const sequence of live) sequence.end = boundary.firstStep(sequence.tokens, most, written);
      written += count;
      const going = live.map(({ end }) => end === null);
      heads = heads?.filter((_, i) => going[i]) ?? null;
      live = live.filter((_, i) => going[i]);
    }
    return passes;
  }

  async #read(): Promise<readonly Candidate[]> {
    const ended = this.#sequences.map(({ end, tokens, logprobs, cursor }) => {
      if (!end) throw new Error('a candidate without an end');
      const { length, ends } = end;
      return { cursor, length, ends, tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length) };
    });
    const { grounding, pooled } = this.#reads
      ? await this.#options.model.gather(
          [],
          ended.map(({ cursor, length }) => ({ cursor, first: this.#base, count: length })),
        )
      : { grounding: [], pooled: [] };
    return ended.map(({ tokens, ends, logprobs }, i) => ({
      tokens,
      ends,
      logprobs,
      grounding: [...(grounding[i] ?? [])],
      pooled: pooled[i] ?? null,
    }));
  }
}
