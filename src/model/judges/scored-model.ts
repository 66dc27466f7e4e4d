// A decoder with a small head in place of its vocabulary's: a value (reward models) or a few classes (token
// classification) for every row that it reads. Nothing is drawn from its logits, and its cursors only move forward and
// back; a row costs as much as a row of prefill.

import { checkAborted } from '../../base/errors.ts';
import { MOST_ROWS } from '../../base/pass-rows.ts';
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { MatmulTuning, Matrix } from '../../kernels/matmul/matmul.ts';
import type { Architecture } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import { Cache, NO_FORKS } from '../cache/kv-cache.ts';
import { treeRows } from '../cache/visibility.ts';
import { chain, checkTokens } from '../check-tree.ts';
import { Executor } from '../forward/executor.ts';
import type { RopeDivisors } from '../forward/rope-table.ts';
import { makeScratch } from '../forward/scratch.ts';
import type { Weights } from '../load/device-weights.ts';
import { JudgeRows } from './judge-rows.ts';

interface ScoredParts {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly tuning: MatmulTuning;
  /** `[labels, hidden]`. */
  readonly head: Matrix;
  /** Owns the weights; the model adds its scratch and frees everything with it. */
  readonly arena: Arena;
}

export class ScoredModel implements Disposable {
  readonly architecture: Architecture;
  readonly labels: number;
  /** From the checkpoint's tensors, once they have been read. */
  ropeDivisors: RopeDivisors = {};
  /** A few numbers, added on the host. */
  bias: Float32Array;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #executor: Executor;
  readonly #caches = new Set<Cache>();
  #disposed = false;

  constructor({ gpu, architecture, weights, tuning, head, arena }: ScoredParts) {
    this.architecture = architecture;
    this.labels = head.rows;
    this.bias = new Float32Array(head.rows);
    this.#gpu = gpu;
    this.#arena = arena;
    const scratch = makeScratch(gpu, arena, architecture, head.rows);
    const network = { gpu, architecture, weights: { ...weights, head }, scratch, tuning };
    this.#executor = new Executor(network, arena, { draws: false });
  }

  get family(): string {
    return this.architecture.family;
  }
  get vocabulary(): number {
    return this.architecture.sizes.vocabulary;
  }
  get context(): number {
    return this.architecture.sizes.context;
  }
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Compiles everything, with a cursor that has every pipeline, so that the first judgement does not wait. */
  async ready(): Promise<void> {
    const [probe] = await Promise.all([this.open(Math.min(MOST_ROWS, this.context)), this.#executor.ready()]);
    probe[Symbol.dispose]();
  }

  async open(capacity = this.context): Promise<ScoredCursor> {
    this.#use();
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this judge is ${this.context}`);
    const options = {
      positions: capacity,
      forks: NO_FORKS,
      precision: 'f32' as const,
      tapLayers: [],
      nodes: MOST_ROWS,
    };
    const cache = await Cache.allocate(this.#gpu, this.architecture, options, {
      ...this.#executor.shared,
      divisors: this.ropeDivisors,
    });
    this.#caches.add(cache);
    try {
      await this.#executor.attach(cache);
      this.#use(); // it may have been disposed meanwhile
    } catch (error) {
      this.#close(cache);
      throw error;
    }
    return new ScoredCursor(capacity, {
      read: (tokens, length, signal) => this.#read(cache, tokens, length, signal),
      close: () => this.#close(cache),
    });
  }

  /** The logits of every one of these tokens after `length` rows; two passes in flight. */
  async #read(
    cache: Cache,
    tokens: readonly number[],
    length: number,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    this.#use();
    checkTokens(tokens, this.vocabulary);
    const parts: Promise<Float32Array>[] = [];
    for (let from = 0; from < tokens.length; from += MOST_ROWS) {
      checkAborted(signal);
      const part = this.#pass(cache, tokens.slice(from, from + MOST_ROWS), length + from, length + tokens.length);
      part.catch(() => {}); // if the pass before it fails too, this one is never awaited
      parts.push(part);
      await parts.at(-2);
    }
    const { labels, bias } = this;
    return (await Promise.all(parts)).flatMap((part) =>
      Array.from({ length: part.length / labels }, (_, row) =>
        part.subarray(row * labels, (row + 1) * labels).map((logit, label) => logit + (bias[label] as number)),
      ),
    );
  }

  /** Some tokens after `length` rows, in a sequence of `whole`. */
  #pass(cache: Cache, tokens: readonly number[], length: number, whole: number): Promise<Float32Array> {
    const count = tokens.length;
    const past = { prefix: length, start: length, own: 0 };
    const tree = { tokens: tokens.map((token) => ({ token, ringEntry: 0 })), parents: chain(tokens).parents };
    const pass = this.#executor.run({
      cache,
      rows: {
        from: 'host',
        count,
        rows: (window) => treeRows(past, tree, window, 0, count),
        trees: [{ past, count, length: whole }],
      },
      logits: 'all',
    });
    return pass.logits(0, count).read();
  }

  #close(cache: Cache): void {
    if (!this.#caches.delete(cache)) return;
    this.#executor.detach(cache);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const cache of this.#caches) this.#close(cache);
    this.#executor.free();
    this.#arena.free();
  }

  #use(): void {
    if (this.#disposed) throw refuse('this judge was disposed');
  }
}

interface CursorParts {
  readonly read: (
    tokens: readonly number[],
    length: number,
    signal: AbortSignal | undefined,
  ) => Promise<Float32Array[]>;
  readonly close: () => void;
}

/** One text as the model has read it. */
export class ScoredCursor extends JudgeRows {
  readonly #read: CursorParts['read'];

  constructor(capacity: number, { read, close }: CursorParts) {
    super(capacity, close);
    this.#read = read;
  }

  /** The logits of each of these tokens, after those that were read before. */
  async read(tokens: readonly number[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const { length, capacity } = this;
    if (length + tokens.length > capacity)
      throw refuse(`${length} tokens and ${tokens.length} more exceed the ${capacity} that this judge can read`);
    const rows = await this.#read(tokens, length, signal);
    this.grow(tokens.length);
    return rows;
  }
}
