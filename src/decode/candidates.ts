// Candidate steps: one, or k drawn from the same prefix as one batch that shares its keys and values. The model writes
// several tokens ahead on the device before the host looks at any; what it wrote behind a step's end is thrown away.
import type { Cursor, Drawn, Forward, LanguageModel, Sampling, Scores } from '../model/model.ts';
import type { Emit } from '../trace.ts';
import { chainOf } from './speculate.ts';
import type { Boundary, StepEnd } from './steps.ts';

/** A step that a model wrote. */
export interface Candidate {
  /** The delimiter included. */
  readonly tokens: readonly number[];
  readonly ends: StepEnd;
  /** Of every token, under the model's unmodified distribution. */
  readonly logprobs: readonly number[];
  /** The share of each token's attention that ends in the prompt and the accepted steps; empty where it was not asked for. */
  readonly grounding: readonly number[];
  /** The mean of the tokens' last hidden states; null where it was not asked for. */
  readonly pooled: Float32Array | null;
}

export interface CandidateOptions {
  /** Who writes, for the trace. */
  readonly by: 'draft' | 'target';
  readonly model: LanguageModel;
  /** Opened with `forks`, where there are several lanes. */
  readonly cursor: Cursor;
  /** One a candidate. */
  readonly lanes: readonly Sampling[];
  readonly boundary: Pick<Boundary, 'cut'>;
  /** Rows that a fork was given. */
  readonly room: number;
  /** Whether the cursor was opened with `rollout`, and with `pool`: what it knows of rows is read with the candidates. */
  readonly grounds: boolean;
  readonly pools: boolean;
}

/** Tokens between two looks at the device: each look waits for it, and what lies behind a step's end was for nothing. */
const AHEAD = 8;

/** Draws of the same prefix that are independent of each other; the first is drawn as if it were the only one. */
export const lanesOf = (sampling: Sampling, count: number): readonly Sampling[] =>
  Array.from({ length: count }, (_, i) => ({ ...sampling, seed: (sampling.seed ^ Math.imul(i, 0x85ebca6b)) >>> 0 }));

interface Lane {
  readonly cursor: Cursor;
  readonly sampling: Sampling;
  readonly tokens: number[];
  readonly logprobs: number[];
  end: { readonly length: number; readonly ends: StepEnd } | null;
}

interface Where {
  readonly step: number;
  readonly round: number;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export class Candidates {
  /** Tokens that the last `write` took, those behind the steps' ends too. */
  written = 0;
  readonly #options: CandidateOptions;
  /** Of the candidates that were written last; empty when they have been decided on. */
  #lanes: readonly Lane[] = [];
  #base = 0;

  constructor(options: CandidateOptions) {
    this.#options = options;
  }

  /** Steps that continue `text`, of at most `most` tokens; null where the model's context is full. */
  async write(text: readonly number[], most: number, where: Where): Promise<readonly Candidate[] | null> {
    const { model, cursor, lanes, by, room, grounds } = this.#options;
    const begin = performance.now();
    const longest = Math.min(most, model.context - text.length);
    if (longest < 1) return null;
    this.#base = text.length;
    cursor.rewind(Math.min(cursor.length, text.length - 1));
    if (grounds) cursor.groundOn(text.length);
    const lacking = text.slice(cursor.length);
    const head = await cursor.extend(lacking, { signal: where.signal });
    const cursors = lanes.length > 1 ? cursor.fork(lanes.length, room) : [cursor];
    this.#lanes = cursors.map((each, i) => {
      const sampling = lanes[i] as Sampling;
      return { cursor: each, sampling, tokens: [], logprobs: [], end: null };
    });
    const passes = Math.ceil(lacking.length / 16) + (await this.#writeLanes(head, longest, where.signal));
    const candidates = await this.#read();
    this.written = this.#lanes.reduce((sum, { tokens }) => sum + tokens.length, 0);
    where.emit({
      type: 'candidates',
      round: where.round,
      step: where.step,
      by,
      tokens: candidates.map(({ tokens }) => tokens),
      written: this.written,
      passes,
      ms: performance.now() - begin,
    });
    return candidates;
  }

  get #reads(): boolean {
    return this.#options.grounds || this.#options.pools;
  }

  /** The text goes on with this one. */
  keep(chosen: number): void {
    const { cursor } = this.#options;
    const lane = this.#lanes[chosen];
    if (!lane?.end) throw new Error(`there is no candidate ${chosen} to keep`);
    lane.cursor.rewind(Math.min(lane.cursor.length, this.#base + lane.end.length));
    if (lane.cursor !== cursor) cursor.adopt(lane.cursor);
    this.#lanes = [];
  }

  /** The text goes on without them. */
  drop(): void {
    const { cursor } = this.#options;
    for (const lane of this.#lanes) if (lane.cursor !== cursor) lane.cursor[Symbol.dispose]();
    cursor.rewind(Math.min(cursor.length, this.#base));
    this.#lanes = [];
  }

  /** Passes that it took. */
  async #writeLanes(head: Forward, most: number, signal: AbortSignal): Promise<number> {
    const { model, boundary } = this.#options;
    let passes = 0;
    let live = this.#lanes;
    let heads: readonly Scores[] | null = live.map(() => head);
    const advance = (tokens: readonly (number | Drawn)[]): readonly Scores[] => {
      passes++;
      const chains = tokens.map((token) => chainOf([typeof token === 'number' ? token : token.token]));
      const rows = model.forward(live.map(({ cursor }, i) => ({ cursor, tree: chains[i] as (typeof chains)[number] })));
      for (const row of rows) row.accept([0]);
      return rows;
    };
    for (let written = 0; live.length > 0; ) {
      const count = Math.min(AHEAD, most - written);
      const drawn: Drawn[] = [];
      for (let i = 0; i < count; i++) {
        const from: readonly Scores[] = heads ?? advance(live.map(({ tokens }) => tokens.at(-1) as number));
        const row: readonly Drawn[] = live.map(({ sampling }, j) => (from[j] as Scores).draw(0, sampling));
        drawn.push(...row);
        // A token's own row is what says where it rests; so where that is asked for, the last one is read too.
        heads = this.#reads || i < count - 1 ? advance(row) : null;
      }
      const { choices } = await model.gather(drawn, []);
      signal.throwIfAborted();
      choices.forEach(({ token, logprob }, i) => {
        const lane = live[i % live.length] as Lane;
        lane.tokens.push(token);
        lane.logprobs.push(logprob);
      });
      for (const lane of live) lane.end = boundary.cut(lane.tokens, most, written);
      written += count;
      const going = live.map(({ end }) => end === null);
      heads = heads?.filter((_, i) => going[i]) ?? null;
      live = live.filter((_, i) => going[i]);
    }
    return passes;
  }

  async #read(): Promise<readonly Candidate[]> {
    const ended = this.#lanes.map(({ end, tokens, logprobs, cursor }) => {
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
