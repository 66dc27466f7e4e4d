// A decoder with a small head in place of its vocabulary's: a value (reward models) or a few classes (token
// classification) for every row that it reads. It never draws, so it has no sampler and its cursors only go forward and
// back; a row costs what a row of prefill does.
import { checkAborted } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { packRows } from '../../kernels/cache/rows.ts';
import { BUCKETS, type Bucket, type MatmulTuning, type Matrix } from '../../kernels/matmul/matmul.ts';
import type { Architecture } from '../architecture.ts';
import { type Arena, rowsOf } from '../arena.ts';
import { chain } from '../cache/cursor.ts';
import { Cache, MOST_ROWS, MOVE_BYTES } from '../cache/kv-cache.ts';
import { treeRows } from '../cache/visibility.ts';
import { makeScratch, type Network, recordBody, recordHead, windowsOf } from '../forward/interpreter.ts';
import { unpad } from '../forward/pass.ts';
import type { Weights } from '../load/device-weights.ts';

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
  /** Added on the host: a handful of numbers. */
  bias: Float32Array;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #network: Network;
  readonly #heads = new Map<Bucket, Plan>();
  readonly #moves: Tensor;
  readonly #caches = new Set<Cache>();
  #disposed = false;

  constructor({ gpu, architecture, weights, tuning, head, arena }: ScoredParts) {
    this.architecture = architecture;
    this.labels = head.rows;
    this.bias = new Float32Array(head.rows);
    this.#gpu = gpu;
    this.#arena = arena;
    // The interpreter's vocabulary is the width of what its head gives.
    const sizes = { ...architecture.sizes, vocabulary: head.rows };
    const scratch = makeScratch(gpu, arena, { ...architecture, sizes });
    this.#network = { gpu, architecture, weights: { ...weights, head }, scratch, tuning };
    this.#moves = arena.storage(MOVE_BYTES, 'moves');
    for (const bucket of BUCKETS) {
      const plan = new Plan(gpu);
      recordHead(plan, this.#network, bucket, false);
      this.#heads.set(bucket, plan);
    }
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

  /** Compiles all of it: every pipeline is in the plans of a cursor, and the first judgement should not wait for them. */
  async ready(): Promise<void> {
    const heads = [...this.#heads.values()].map((plan) => plan.ready());
    const [probe] = await Promise.all([this.open(Math.min(MOST_ROWS, this.context)), ...heads]);
    probe[Symbol.dispose]();
  }

  async open(capacity = this.context): Promise<ScoredCursor> {
    this.#use();
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this judge is ${this.context}`);
    const options = { positions: capacity, forks: { count: 0, room: 0 }, half: false, tapLayers: [], nodes: MOST_ROWS };
    const cache = await Cache.allocate(this.#gpu, this.architecture, options, {
      moves: this.#moves,
      stream: this.#network.scratch.stream,
      divisors: undefined,
    });
    this.#caches.add(cache);
    try {
      for (const [bucket, plan] of cache.bodies) recordBody(plan, this.#network, cache, bucket);
      await cache.ready();
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

  /** The logits of every one of these tokens behind `length` rows; two passes in flight. */
  async #read(
    cache: Cache,
    tokens: readonly number[],
    length: number,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    this.#use();
    for (const token of tokens)
      if (!Number.isInteger(token) || token < 0 || token >= this.vocabulary)
        throw refuse(`token ${token} is outside the judge's vocabulary of ${this.vocabulary}`);
    const parts: Promise<Float32Array>[] = [];
    for (let from = 0; from < tokens.length; from += MOST_ROWS) {
      checkAborted(signal);
      parts.push(this.#pass(cache, tokens.slice(from, from + MOST_ROWS), length + from));
      await parts.at(-2);
    }
    const { labels, bias } = this;
    return (await Promise.all(parts)).flatMap((part) =>
      Array.from({ length: part.length / labels }, (_, row) =>
        part.subarray(row * labels, (row + 1) * labels).map((logit, label) => logit + (bias[label] as number)),
      ),
    );
  }

  async #pass(cache: Cache, tokens: readonly number[], length: number): Promise<Float32Array> {
    const { scratch, architecture } = this.#network;
    const { submission } = this.#gpu;
    const count = tokens.length;
    const bucket = BUCKETS.find((size) => size >= count) as Bucket;
    const { parents } = chain(tokens);
    const tree = { tokens: tokens.map((token) => ({ token, ringEntry: 0 })), parents };
    const past = { prefix: length, start: length, own: 0 };
    windowsOf(architecture).forEach((window, w) => {
      submission.upload(scratch.rows[w] as Tensor, packRows(treeRows(past, tree, window, 0, count), bucket));
    });
    submission.run(cache.bodies.get(bucket) as Plan, { keys: length + count });
    submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    const data = submission.read(rowsOf(scratch.logits, count));
    this.#gpu.flush();
    return unpad(await data, count, this.labels);
  }

  #close(cache: Cache): void {
    if (!this.#caches.delete(cache)) return;
    this.#gpu.flush(); // commands that use a buffer must be submitted before it is destroyed
    cache.free();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const cache of this.#caches) this.#close(cache);
    this.#gpu.flush();
    for (const plan of this.#heads.values()) plan.destroy();
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
export class ScoredCursor implements Disposable {
  readonly capacity: number;
  readonly #parts: CursorParts;
  #length = 0;

  constructor(capacity: number, parts: CursorParts) {
    this.capacity = capacity;
    this.#parts = parts;
  }

  get length(): number {
    return this.#length;
  }

  rewind(length: number): void {
    if (!Number.isInteger(length) || length < 0 || length > this.#length)
      throw refuse(`rewind to ${length}: the cursor holds 0 to ${this.#length} rows`);
    this.#length = length;
  }

  /** The logits of each of these tokens, behind those that were read before. */
  async read(tokens: readonly number[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const { length, capacity } = this;
    if (length + tokens.length > capacity)
      throw refuse(`${length} tokens and ${tokens.length} more exceed the ${capacity} that this judge can read`);
    const rows = await this.#parts.read(tokens, length, signal);
    this.#length = length + tokens.length;
    return rows;
  }

  [Symbol.dispose](): void {
    this.#parts.close();
  }
}
