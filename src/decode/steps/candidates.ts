// Candidate steps: one, or k drawn from the same prefix as one batch that shares its keys and values. The model writes
// several tokens ahead on the device before the host looks at any. What a lone candidate has behind its end is how the next
// step begins, if it is kept; everything else behind an end was for nothing.
import type { Cursor, Drawn, Forward, LanguageModel, Sampling, Scores } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';
import { chainOf } from '../speculative/speculate.ts';
import type { Boundary, StepEnd } from './step-boundary.ts';

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

/** Tokens between two looks at the device, each of which waits for it. */
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

interface Rest {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
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
  /** What was written behind the step that was kept last. */
  #rest: Rest | null = null;

  constructor(options: CandidateOptions) {
    this.#options = options;
  }

  /** Steps that continue `text`, of at most `most` tokens; null where the model's context is full. */
  async write(text: readonly number[], most: number, where: Where): Promise<readonly Candidate[] | null> {
    const { model, cursor, by } = this.#options;
    const begin = performance.now();
    const longest = Math.min(most, model.context - text.length);
    if (longest < 1) return null;
    this.#base = text.length;
    const rest = this.#rest && cursor.length === text.length + this.#rest.tokens.length - 1 ? this.#rest : null;
    this.#rest = null;
    const passes = await (rest
      ? this.#continue(rest, text, longest, where.signal)
      : this.#begin(text, longest, where.signal));
    const candidates = await this.#read();
    const known = rest ? Math.min(rest.tokens.length, longest) : 0;
    this.written = this.#lanes.reduce((sum, { tokens }) => sum + tokens.length, 0) - known;
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

  async #begin(text: readonly number[], longest: number, signal: AbortSignal): Promise<number> {
    const { cursor, lanes, room, grounds } = this.#options;
    cursor.rewind(Math.min(cursor.length, text.length - 1));
    if (grounds) cursor.groundOn(text.length);
    const lacking = text.slice(cursor.length);
    const head = await cursor.extend(lacking, { signal });
    const cursors = lanes.length > 1 ? cursor.fork(lanes.length, room) : [cursor];
    this.#lanes = cursors.map((each, i) => {
      const sampling = lanes[i] as Sampling;
      return { cursor: each, sampling, tokens: [], logprobs: [], end: null };
    });
    return Math.ceil(lacking.length / 16) + (await this.#writeLanes(head, longest, signal));
  }

  /** What a lone lane wrote behind a step that was kept is how the next one begins. */
  async #continue(rest: Rest, text: readonly number[], longest: number, signal: AbortSignal): Promise<number> {
    const { cursor, lanes, boundary } = this.#options;
    const tokens = rest.tokens.slice(0, longest);
    const logprobs = rest.logprobs.slice(0, longest);
    cursor.rewind(Math.min(cursor.length, text.length + tokens.length - 1));
    this.#lanes = [{ cursor, sampling: lanes[0] as Sampling, tokens, logprobs, end: boundary.cut(tokens, longest) }];
    return this.#writeLanes(null, longest, signal);
  }

  get #reads(): boolean {
    return this.#options.grounds || this.#options.pools;
  }

  /** The text goes on with this one. */
  keep(chosen: number): void {
    const { cursor } = this.#options;
    const lane = this.#lanes[chosen];
    if (!lane?.end) throw new Error(`there is no candidate ${chosen} to keep`);
    const { length } = lane.end;
    this.#lanes = [];
    if (lane.cursor === cursor && !this.#reads && lane.tokens.length > length) {
      this.#rest = { tokens: lane.tokens.slice(length), logprobs: lane.logprobs.slice(length) };
      return;
    }
    lane.cursor.rewind(Math.min(lane.cursor.length, this.#base + length));
    if (lane.cursor !== cursor) cursor.adopt(lane.cursor);
  }

  /** The text goes on without them. */
  drop(): void {
    const { cursor } = this.#options;
    for (const lane of this.#lanes) if (lane.cursor !== cursor) lane.cursor[Symbol.dispose]();
    cursor.rewind(Math.min(cursor.length, this.#base));
    this.#lanes = [];
  }

  /** Passes that it took. */
  async #writeLanes(head: Forward | null, most: number, signal: AbortSignal): Promise<number> {
    const { model, boundary } = this.#options;
    let passes = 0;
    let live = this.#lanes.filter(({ end }) => end === null);
    let heads: readonly Scores[] | null = head && live.map(() => head);
    const advance = (tokens: readonly (number | Drawn)[]): readonly Scores[] => {
      passes++;
      const chains = tokens.map((token) => chainOf([typeof token === 'number' ? token : token.token]));
      const rows = model.forward(live.map(({ cursor }, i) => ({ cursor, tree: chains[i] as (typeof chains)[number] })));
      for (const row of rows) row.accept([0]);
      return rows;
    };
    for (let written = live[0]?.tokens.length ?? 0; live.length > 0; ) {
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
