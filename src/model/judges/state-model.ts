// A few layers on top of another model's: its rows begin as the hidden states that a cursor of that model keeps of its
// own, so nothing is read a second time. Every row gets logits over the vocabulary, or keys and values alone.

import { PROMPT_ROWS } from '../../base/pass-rows.ts';
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import { Plan } from '../../gpu/plan.ts';
import type { MatmulTuning } from '../../kernels/matmul/matmul.ts';
import type { Architecture } from '../architecture.ts';
import { type Arena, rowsOf } from '../arena.ts';
import { CachedCursor } from '../cache/cursor.ts';
import { Cache, NO_FORKS } from '../cache/kv-cache.ts';
import type { Pool } from '../cache/pooled-states.ts';
import { slotsOf, treeRows } from '../cache/visibility.ts';
import { Executor } from '../forward/executor.ts';
import { type Network, recordBody, recordHead } from '../forward/interpreter.ts';
import type { Pass } from '../forward/pass.ts';
import type { RopeDivisors } from '../forward/rope-table.ts';
import { makeScratch } from '../forward/scratch.ts';
import type { Cursor } from '../interface.ts';
import type { Weights } from '../load/device-weights.ts';
import { JudgeRows } from './judge-rows.ts';

interface StateParts {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly tuning: MatmulTuning;
  /** Owns the weights; the model adds its scratch and frees everything with it. */
  readonly arena: Arena;
}

/** What one sequence needs: `cache.bodies` score every row, `keys` none. */
interface Sequence {
  readonly cache: Cache;
  readonly keys: ReadonlyMap<number, Plan>;
}

/** The rows of a pass that come one after another in the model below. */
interface Rows {
  readonly from: CachedCursor;
  readonly pool: Pool;
  readonly first: number;
  readonly count: number;
}

export class StateModel implements Disposable {
  readonly architecture: Architecture;
  /** From the checkpoint's tensors, once they have been read. */
  ropeDivisors: RopeDivisors = {};
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #network: Network;
  readonly #executor: Executor;
  /** Final norm and logits of a pass of so many rows. */
  readonly #heads = new Map<number, Plan>();
  readonly #sequences = new Set<Sequence>();
  #disposed = false;

  constructor({ gpu, architecture, weights, tuning, arena }: StateParts) {
    this.architecture = architecture;
    this.#gpu = gpu;
    this.#arena = arena;
    const scratch = makeScratch(gpu, arena, architecture, architecture.sizes.vocabulary, PROMPT_ROWS);
    this.#network = { gpu, architecture, weights, scratch, tuning };
    this.#executor = new Executor(this.#network, arena, { draws: false });
  }

  get context(): number {
    return this.architecture.sizes.context;
  }
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Compiles everything, with a cursor that has every pipeline. */
  async ready(): Promise<void> {
    const [probe] = await Promise.all([this.open(Math.min(2 * PROMPT_ROWS, this.context)), this.#executor.ready()]);
    probe[Symbol.dispose]();
  }

  async open(capacity = this.context): Promise<StateCursor> {
    this.#use();
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this judge is ${this.context}`);
    const options = { positions: capacity, forks: NO_FORKS, precision: 'f32', tapLayers: [], nodes: 1 } as const;
    const cache = await Cache.allocate(
      this.#gpu,
      this.architecture,
      { ...options, prompts: true },
      { ...this.#executor.shared, divisors: this.ropeDivisors },
    );
    const keys = new Map([...cache.bodies.keys()].map((rows) => [rows, new Plan(this.#gpu)]));
    const sequence = { cache, keys };
    this.#sequences.add(sequence);
    const network = this.#network;
    for (const [rows, plan] of cache.bodies) {
      recordBody(plan, network, cache, rows, { embeds: false, unscored: false });
      if (this.#heads.has(rows)) continue;
      const head = new Plan(this.#gpu);
      recordHead(head, network, rows, false);
      this.#heads.set(rows, head);
    }
    for (const [rows, plan] of keys) recordBody(plan, network, cache, rows, { embeds: false, unscored: true });
    try {
      await Promise.all([cache.ready(), ...[...keys.values(), ...this.#heads.values()].map((plan) => plan.ready())]);
      this.#use(); // it may have been disposed meanwhile
    } catch (error) {
      this.#close(sequence);
      throw error;
    }
    return new StateCursor(capacity, {
      vocabulary: this.architecture.sizes.vocabulary,
      rows: cache.promptRows,
      keep: (rows) => {
        this.#pass(sequence, rows, keys);
      },
      score: (rows) => this.#score(sequence, rows),
      close: () => this.#close(sequence),
    });
  }

  /** Resolves with the logits of the rows, `[count, vocabulary]`; later passes may be recorded before. */
  async #score(sequence: Sequence, rows: Rows): Promise<Float32Array> {
    const { scratch } = this.#network;
    const pass = this.#pass(sequence, rows, sequence.cache.bodies);
    const [, head] = [...this.#heads].find(([size]) => size >= rows.count) as [number, Plan];
    this.#gpu.submission.run(head, { keys: 0 });
    return pass.view(rowsOf(scratch.logits, rows.count), this.architecture.sizes.vocabulary).read();
  }

  #pass({ cache }: Sequence, { from, pool, first, count }: Rows, body: Sequence['keys']): Pass {
    this.#use();
    const { scratch } = this.#network;
    const { submission } = this.#gpu;
    let row = 0;
    for (const run of slotsOf(from.past, first, count)) {
      if (run.count === 0) continue;
      submission.copy(rowsOf(pool.tensor, run.count, run.first), rowsOf(scratch.stream, run.count, row));
      row += run.count;
    }
    const past = { prefix: first, start: first, own: 0 };
    const unnamed = Array.from({ length: count }, () => ({ token: 0, ringEntry: 0 })); // nothing reads tokens here
    const tree = { tokens: unnamed, parents: unnamed.map((_, i) => i - 1) };
    return this.#executor.run({
      cache,
      body,
      rows: {
        from: 'host',
        count,
        rows: (window, from, some) => treeRows(past, tree, window, from, some),
        trees: [{ past, count, length: first + count }],
      },
      logits: 'none',
    });
  }

  #close(sequence: Sequence): void {
    if (!this.#sequences.delete(sequence)) return;
    this.#executor.detach(sequence.cache);
    for (const plan of sequence.keys.values()) plan.destroy();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const sequence of this.#sequences) this.#close(sequence);
    this.#executor.free();
    for (const head of this.#heads.values()) head.destroy();
    this.#arena.free();
  }

  #use(): void {
    if (this.#disposed) throw refuse('this judge was disposed');
  }
}

interface CursorParts {
  readonly vocabulary: number;
  /** The most of a pass. */
  readonly rows: number;
  readonly keep: (rows: Rows) => void;
  readonly score: (rows: Rows) => Promise<Float32Array>;
  readonly close: () => void;
}

const poolOf = (cursor: Cursor): { readonly from: CachedCursor; readonly pool: Pool } => {
  const pool = cursor instanceof CachedCursor ? cursor.cache.pool : null;
  if (!pool) throw refuse('this cursor keeps no hidden states', 'Open it with `pool`.');
  return { from: cursor as CachedCursor, pool };
};

/** A text's rows in the layers on top. */
export class StateCursor extends JudgeRows {
  readonly #parts: Omit<CursorParts, 'close'>;

  constructor(capacity: number, { close, ...parts }: CursorParts) {
    super(capacity, close);
    this.#parts = parts;
  }

  /**
   * Takes over the rows of this cursor from `length` up to `end`, for later rows to see. Resolves with the logits of those
   * from `first` on: what its model and these layers expect after them.
   */
  async score(cursor: Cursor, first: number, end: number): Promise<readonly Float32Array[]> {
    const { vocabulary: width, keep, score } = this.#parts;
    const reads: Promise<Float32Array>[] = [];
    for (const rows of this.#passes(cursor, end)) {
      if (rows.first + rows.count > first) reads.push(score(rows));
      else keep(rows);
    }
    const values = await Promise.all(reads);
    const scores = values.flatMap((logits) =>
      Array.from({ length: logits.length / width }, (_, row) => logits.subarray(row * width, (row + 1) * width)),
    );
    return scores.slice(first - end);
  }

  /** The first pass takes what does not fill one, so that the last rows, which are scored, take as few as possible. */
  *#passes(cursor: Cursor, end: number): Generator<Rows> {
    const states = poolOf(cursor);
    if (end > Math.min(cursor.length, this.capacity))
      throw refuse(`rows up to ${end} of a cursor of ${cursor.length}; this judge can hold ${this.capacity}`);
    const { rows: most } = this.#parts;
    while (this.length < end) {
      const count = (end - this.length) % most || most;
      yield { ...states, first: this.length, count };
      this.grow(count);
    }
  }
}
