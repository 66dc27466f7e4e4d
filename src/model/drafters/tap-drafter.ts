// What the drafters that read their target's hidden states have in common: memory, caches, and cursors whose context
// follows the target's committed rows. At most sixteen rows of taps wait on the device; a draft fuses them first.

import { MOST_ROWS } from '../../base/pass-rows.ts';
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Architecture } from '../architecture.ts';
import { Arena } from '../arena.ts';
import { Cache, NO_FORKS } from '../cache/kv-cache.ts';
import { treeRows } from '../cache/visibility.ts';
import { Executor } from '../forward/executor.ts';
import type { Network } from '../forward/interpreter.ts';
import type { RopeDivisors } from '../forward/rope-table.ts';
import { makeScratch } from '../forward/scratch.ts';
import type { Forward, OpenDrafter, Token } from '../interface.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import type { Transformer } from '../transformer.ts';
import { FeatureQueue } from './tap-queue.ts';

export interface DrafterParts extends Omit<Network, 'scratch'> {
  readonly target: Transformer;
  readonly tapLayers: readonly number[];
  /** Owns the weights; the drafter adds its scratch and frees everything with it. */
  readonly arena: Arena;
}

/** Device memory of one cursor. */
export interface Context {
  readonly cache: Cache;
  readonly queue: FeatureQueue;
  readonly arena: Arena;
  readonly capacity: number;
}

export abstract class TapDrafter implements Disposable {
  readonly tapLayers: readonly number[];
  readonly architecture: Architecture;
  readonly network: Network;
  readonly executor: Executor;
  readonly target: Transformer;
  ropeDivisors: RopeDivisors = {};
  /** Whether a tap of the target's last layer is read before the final norm. */
  tapsBeforeNorm = false;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #contexts = new Set<Context>();
  #disposed = false;

  constructor({ target, tapLayers, arena, ...parts }: DrafterParts) {
    this.target = target;
    this.tapLayers = tapLayers;
    this.architecture = parts.architecture;
    this.#gpu = parts.gpu;
    this.#arena = arena;
    this.network = { ...parts, scratch: makeScratch(parts.gpu, arena, parts.architecture) };
    this.executor = new Executor(this.network, arena);
  }

  get family(): string {
    return this.architecture.family;
  }
  get context(): number {
    return this.architecture.sizes.context;
  }
  get bytes(): number {
    return this.#arena.bytes;
  }

  ready(): Promise<void> {
    return this.executor.ready();
  }

  async keepDistributions(): Promise<void> {
    this.use();
    await this.executor.keepDistributions();
  }

  /** Memory and plans for one cursor. */
  protected async allocate({ capacity = this.context, cache: kind = 'f32' }: OpenDrafter): Promise<Context> {
    this.use();
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this drafter is ${this.context}`);
    const cache = await Cache.allocate(
      this.#gpu,
      this.architecture,
      { positions: capacity, forks: NO_FORKS, precision: kind, tapLayers: [], nodes: MOST_ROWS },
      { ...this.executor.shared, divisors: this.ropeDivisors },
    );
    const arena = new Arena(this.#gpu);
    const { finalNorm, epsilon } = this.target.lend();
    const last = this.tapsBeforeNorm ? -1 : this.tapLayers.indexOf(this.target.layers - 1);
    const tapped = { layers: this.tapLayers, last, finalNorm, epsilon };
    const make = () => new FeatureQueue(this.network, cache, arena, tapped);
    const queue = await this.#gpu.allocating(`the taps of ${this.tapLayers.length} layers`, make).catch((error) => {
      cache.free();
      throw error;
    });
    const context = { cache, queue, arena, capacity };
    this.#contexts.add(context);
    try {
      await Promise.all([this.executor.attach(cache), queue.ready()]);
      this.use(); // it may have been disposed meanwhile
    } catch (error) {
      this.close(context);
      throw error;
    }
    return context;
  }

  close(context: Context): void {
    if (!this.#contexts.delete(context)) return;
    this.executor.detach(context.cache);
    context.queue.free();
    context.arena.free();
    if (this.#contexts.size === 0) this.executor.trim();
  }

  /** It borrows its target's embedding, so the target must still be there. */
  use(): void {
    if (this.#disposed) throw refuse('this drafter was disposed');
    this.target.lend();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const context of this.#contexts) this.close(context);
    this.executor.free();
    this.#arena.free();
  }
}

/** A drafter's cached view of one sequence: rows in the cache, and rows that wait. */
export abstract class ContextCursor implements Disposable {
  readonly capacity: number;
  protected readonly context: Context;
  readonly #drafter: TapDrafter;
  /** Rows in the cache. */
  #appended = 0;
  /** The tokens of the rows that wait. */
  #waiting: Token[] = [];
  #disposed = false;

  constructor(drafter: TapDrafter, context: Context) {
    this.#drafter = drafter;
    this.context = context;
    this.capacity = context.capacity;
  }

  /** Rows of the context that are in the cache. */
  protected get appended(): number {
    return this.#appended;
  }

  get length(): number {
    return this.#appended + this.#waiting.length;
  }

  rewind(length: number): void {
    this.use();
    if (!Number.isInteger(length) || length < 0 || length > this.length)
      throw refuse(`rewind to ${length}: the cursor holds ${this.length} rows`);
    this.#waiting.length = Math.max(0, length - this.#appended);
    this.context.queue.count = this.#waiting.length;
    this.#appended = Math.min(this.#appended, length);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#drafter.close(this.context);
  }

  protected put(pass: Pick<Forward, 'taps'>, rows: readonly number[], tokens: readonly Token[]): void {
    this.room(rows.length);
    const { queue } = this.context;
    for (let i = 0; i < rows.length; ) {
      if (queue.count === MOST_ROWS) this.flush(queue.unscored);
      const count = Math.min(rows.length - i, MOST_ROWS - queue.count);
      queue.put(pass, rows.slice(i, i + count));
      this.#waiting.push(...tokens.slice(i, i + count));
      i += count;
    }
  }

  /** Turns the rows that wait into context; how many they were. */
  protected flush(plans = this.context.queue.plans): number {
    const { cache, queue } = this.context;
    const { count } = queue;
    if (count === 0) return 0;
    const tokenRing = tokenRingOf(this.#drafter.network.gpu);
    const past = { prefix: this.#appended, start: this.#appended, own: 0 };
    const tree = {
      tokens: this.#waiting.map((token) => tokenRing.name(token)),
      parents: this.#waiting.map((_, i) => i - 1),
    };
    this.#drafter.executor.run({
      cache,
      body: plans,
      rows: { from: 'host', count, rows: (window) => treeRows(past, tree, window, 0, count) },
      logits: 'none',
    });
    this.#appended += count;
    this.#waiting = [];
    queue.count = 0;
    return count;
  }

  /** Refuses what would not fit before anything runs. */
  protected room(rows: number): void {
    this.use();
    if (this.length + rows > this.capacity)
      throw refuse(
        `${this.length} rows and ${rows} more exceed the ${this.capacity} that this drafter's cursor can hold`,
        'Draft fewer tokens, or open a longer context.',
      );
  }

  protected use(): void {
    if (this.#disposed) throw refuse('this cursor was disposed');
    this.#drafter.use();
  }
}
