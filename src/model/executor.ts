// Replays the plans of a model: one upload of the rows, a body, a head, all into the device's open turn. Nothing is
// submitted here except by prefill, whose chunks nobody reads.
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import { Plan } from '../gpu/plan.ts';
import { BUCKETS, type Bucket } from '../kernels/matmul.ts';
import { packRows } from '../kernels/rows.ts';
import { type Arena, rowsOf } from './arena.ts';
import { type Cache, MOST_ROWS, type Wide } from './cache.ts';
import type { CachedCursor } from './cursor.ts';
import { type Network, recordBody, recordHead, windowsOf } from './forward.ts';
import type { Tree } from './model.ts';
import { Pass } from './pass.ts';
import { Sampler } from './sampler.ts';
import { depths, treeRows } from './visibility.ts';

/** Nodes [first, first + count) of a tree behind a cursor. */
export interface Span {
  readonly cursor: CachedCursor;
  readonly tree: Tree;
  readonly first: number;
  readonly count: number;
}

export class Executor {
  /** Smallest pass: 1, or 4 on a device that is not batch invariant. */
  leastRows: 1 | 4 = 1;
  readonly #gpu: Gpu;
  readonly #network: Network;
  readonly #sampler: Sampler;
  readonly #windows: readonly (number | null)[];
  /** Final norm and logits of every row, for each bucket. */
  readonly #heads = new Map<Bucket, Plan>();
  /** The same of one picked row, repeated where the smallest pass has four. */
  readonly #picked = new Map<Bucket, Plan>();
  #pass: Pass | null = null;
  /** The chunk before the last one submitted: prefill keeps two in flight. */
  #inFlight: Promise<unknown> = Promise.resolve();

  constructor(network: Network, arena: Arena) {
    this.#gpu = network.gpu;
    this.#network = network;
    this.#sampler = new Sampler(network.gpu, arena, network.architecture.sizes.vocabulary);
    this.#windows = windowsOf(network.architecture);
    for (const bucket of BUCKETS) this.#heads.set(bucket, this.#head(bucket, false));
    for (const bucket of [1, 4] as const) this.#picked.set(bucket, this.#head(bucket, true));
  }

  /** Compiles what does not depend on a cache. */
  async ready(): Promise<void> {
    const plans = [...this.#heads.values(), ...this.#picked.values()].map((plan) => plan.ready());
    await Promise.all([...plans, this.#sampler.prepare(this.#network.scratch.logits)]);
  }

  /** Records and compiles the bodies of a cache. */
  async attach(cache: Cache, layers?: readonly number[]): Promise<void> {
    for (const [bucket, plan] of cache.bodies) recordBody(plan, this.#network, cache, bucket, layers);
    await Promise.all([cache.ready(), cache.wide ? this.#sampler.prepare(cache.wide.logits) : null]);
  }

  detach(cache: Cache): void {
    if (cache.wide) this.#sampler.forget(cache.wide.logits);
    this.#gpu.flush(); // commands that use a buffer must be submitted before it is destroyed
    cache.free();
  }

  /** All rows of at most 16 nodes, logits in the scratch. */
  score(cache: Cache, spans: readonly Span[]): Pass {
    const bucket = this.#body(cache, spans);
    this.#gpu.turn.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    return this.#begin(this.#network.scratch.logits, cache.taps);
  }

  /** A tree of more than 16 nodes: sixteen at a time, each pass seeing the keys of those before; results collected. */
  scoreWide(cache: Cache, wide: Wide, cursor: CachedCursor, tree: Tree): Pass {
    const { logits } = this.#network.scratch;
    const total = tree.tokens.length;
    for (let first = 0; first < total; first += MOST_ROWS) {
      const count = Math.min(MOST_ROWS, total - first);
      const bucket = this.#body(cache, [{ cursor, tree, first, count }]);
      const { turn } = this.#gpu;
      turn.run(this.#heads.get(bucket) as Plan, { keys: 0 });
      turn.copy(rowsOf(logits, count), rowsOf(wide.logits, count, first));
      wide.taps.forEach((tap, i) => {
        turn.copy(rowsOf(cache.taps[i] as Tensor, count), rowsOf(tap, count, first));
      });
    }
    return this.#begin(wide.logits, wide.taps);
  }

  /** The last row of a chain; its logits are row 0, its taps stay at the chain's last row. */
  scoreLast(cache: Cache, span: Span): Pass {
    this.#body(cache, [span]);
    const { pickedIndices, logits } = this.#network.scratch;
    this.#gpu.turn.upload(pickedIndices, new Uint32Array(this.leastRows).fill(span.count - 1));
    this.#gpu.turn.run(this.#picked.get(this.leastRows) as Plan, { keys: 0 });
    return this.#begin(logits, cache.taps);
  }

  /** No row: fills the cache. Two chunks in flight keep the device busy and let an abort through in between. */
  async fill(cache: Cache, span: Span): Promise<void> {
    this.#body(cache, [span]);
    this.#gpu.flush();
    const before = this.#inFlight;
    this.#inFlight = this.#gpu.device.queue.onSubmittedWorkDone();
    await before;
  }

  free(): void {
    this.#gpu.flush();
    for (const plan of [...this.#heads.values(), ...this.#picked.values()]) plan.destroy();
    this.#sampler.free();
  }

  #head(bucket: Bucket, picked: boolean): Plan {
    const plan = new Plan(this.#gpu);
    recordHead(plan, this.#network, bucket, picked);
    return plan;
  }

  #begin(logits: Tensor, taps: readonly Tensor[]): Pass {
    const { vocabulary, hidden } = this.#network.architecture.sizes;
    this.#pass = new Pass(this.#gpu, this.#sampler, { logits, taps, vocabulary, hidden });
    return this.#pass;
  }

  /** Uploads the rows and runs the blocks; draws of the pass before are recorded first, while its logits last. */
  #body(cache: Cache, spans: readonly Span[]): Bucket {
    this.#pass?.end();
    this.#pass = null;
    const { turn } = this.#gpu;
    const total = spans.reduce((sum, { count }) => sum + count, 0);
    const bucket = BUCKETS.find((size) => size >= Math.max(total, this.leastRows)) as Bucket;
    const depth = spans.map(({ tree }) => depths(tree.parents));
    let keys = 0;
    this.#windows.forEach((window, w) => {
      const rows = spans.flatMap(({ cursor, tree, first, count }, i) =>
        treeRows(cursor.past, tree, depth[i] as number[], window, first, count),
      );
      for (const { slot } of rows) keys = Math.max(keys, slot + 1);
      turn.upload(this.#network.scratch.rows[w] as Tensor, packRows(rows, bucket));
    });
    turn.run(cache.bodies.get(bucket) as Plan, { keys });
    return bucket;
  }
}
