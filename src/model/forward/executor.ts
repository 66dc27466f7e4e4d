// Replays the plans of a model: one upload of the rows, a body, a head, all into the device's open submission. Nothing is
// submitted here except by prefill, whose chunks nobody reads.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import { branches, packRows, type Row } from '../../kernels/cache/rows.ts';
import { BUCKETS, type Bucket } from '../../kernels/matmul/matmul.ts';
import { type Arena, rowsOf } from '../arena.ts';
import type { CachedCursor } from '../cache/cursor.ts';
import { type Cache, MOST_ROWS, MOVE_BYTES, type Shared } from '../cache/kv-cache.ts';
import { treeRows } from '../cache/visibility.ts';
import type { Tree } from '../interface.ts';
import { Sampler } from '../sampling/sampler.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { Verifier } from '../sampling/verifier.ts';
import { DeviceTreeRows, type GrownTree } from './device-tree.ts';
import { type Network, recordBody, recordHead, windowsOf } from './interpreter.ts';
import { Pass } from './pass.ts';

/** Nodes [first, first + count) of a tree behind a cursor. */
export interface Span {
  readonly cursor: CachedCursor;
  readonly tree: Tree;
  readonly first: number;
  readonly count: number;
}

/** The rows of a pass as blocks of this window see them. */
export type RowsOf = (window: number | null) => readonly Row[];

export class Executor {
  /** Smallest pass: 1, or 4 on a device that is not batch invariant. */
  leastRows: 1 | 4 = 1;
  /** By the caches of this model. */
  readonly shared: Shared;
  readonly #gpu: Gpu;
  readonly #network: Network;
  readonly #sampler: Sampler;
  readonly #verifier: Verifier;
  readonly #deviceTreeRows: DeviceTreeRows;
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
    const vocabulary = this.#vocabulary;
    this.shared = { moves: arena.storage(MOVE_BYTES, 'moves'), stream: network.scratch.stream };
    this.#sampler = new Sampler(network.gpu, arena, vocabulary);
    const { distributions } = this.#sampler;
    this.#verifier = new Verifier(network.gpu, arena, { vocabulary, distributions, moves: this.shared.moves });
    this.#windows = windowsOf(network.architecture);
    this.#deviceTreeRows = new DeviceTreeRows(network.gpu, arena, {
      nodes: this.#verifier.nodes,
      draws: this.#sampler.draws,
      rows: network.scratch.rows,
      windows: this.#windows,
    });
    for (const bucket of BUCKETS) this.#heads.set(bucket, this.#head(bucket, false));
    for (const bucket of [1, 4] as const) this.#picked.set(bucket, this.#head(bucket, true));
  }

  get #vocabulary(): number {
    const { architecture, reduced } = this.#network;
    return reduced?.vocabulary ?? architecture.sizes.vocabulary;
  }

  /** Compiles what does not depend on a cache. */
  async ready(): Promise<void> {
    const plans = [...this.#heads.values(), ...this.#picked.values()].map((plan) => plan.ready());
    await Promise.all([...plans, this.#deviceTreeRows.ready(), this.#prepare(this.#network.scratch.scores)]);
  }

  async #prepare(logits: Tensor): Promise<void> {
    await Promise.all([this.#sampler.prepare(logits), this.#verifier.prepare(logits)]);
  }

  /** Records and compiles the bodies of a cache. */
  async attach(cache: Cache, layers?: readonly number[]): Promise<void> {
    for (const [bucket, plan] of cache.bodies) recordBody(plan, this.#network, cache, bucket, layers);
    await Promise.all([cache.ready(), cache.wide ? this.#prepare(cache.wide.logits) : null]);
  }

  detach(cache: Cache): void {
    if (cache.wide) {
      this.#sampler.forget(cache.wide.logits);
      this.#verifier.forget(cache.wide.logits);
    }
    this.#gpu.flush(); // commands that use a buffer must be submitted before it is destroyed
    cache.free();
  }

  /** All rows of at most 16 nodes. */
  score(cache: Cache, spans: readonly Span[]): Pass {
    return this.scoreRows(cache, this.#rows(spans));
  }

  /** The same of rows whose visibility is no tree's. */
  scoreRows(cache: Cache, rows: RowsOf): Pass {
    const bucket = this.run(cache.bodies, rows);
    this.#gpu.submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    return this.#begin(this.#network.scratch.scores, cache);
  }

  /** Rows that the device has written itself; `keys`: slots that they may see. */
  scoreFilled(cache: Cache, bucket: Bucket, keys: number): Pass {
    this.#end();
    this.#gpu.submission.run(cache.bodies.get(bucket) as Plan, { keys });
    this.#gpu.submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    return this.#begin(this.#network.scratch.scores, cache);
  }

  /** A tree of any size. */
  scoreTree(cursor: CachedCursor, tree: Tree): Pass {
    return this.#collect(cursor.cache, tree.tokens.length, (first, count) =>
      this.run(cursor.cache.bodies, this.#rows([{ cursor, tree, first, count }])),
    );
  }

  /** A tree that only the device knows. */
  scoreDeviceTree({ cache, past, next }: CachedCursor, tree: GrownTree, nodes: number): Pass {
    this.#end();
    this.#deviceTreeRows.load(tree, nodes);
    return this.#collect(cache, nodes, (first, count) => {
      this.#end();
      const bucket = this.#bucket(count);
      this.#deviceTreeRows.fill(past, { first, count, bucket });
      const keys = next + first + count;
      const branched = (next % CHUNK) + first + count > CHUNK;
      this.#gpu.submission.run(cache.bodies.get(bucket) as Plan, { keys, branched });
      return bucket;
    });
  }

  /** Sixteen nodes at a time, each pass seeing the keys of those before; more than one pass's results are collected. */
  #collect(cache: Cache, total: number, body: (first: number, count: number) => Bucket): Pass {
    const { scores } = this.#network.scratch;
    const wide = total > MOST_ROWS ? cache.wide : null;
    for (let first = 0; first < total; first += MOST_ROWS) {
      const count = Math.min(MOST_ROWS, total - first);
      const bucket = body(first, count);
      const { submission } = this.#gpu;
      submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
      if (!wide) continue;
      submission.copy(rowsOf(scores, count), rowsOf(wide.logits, count, first));
      wide.taps.forEach((tap, i) => {
        submission.copy(rowsOf(cache.taps[i] as Tensor, count), rowsOf(tap, count, first));
      });
    }
    return wide ? this.#begin(wide.logits, cache, wide.taps) : this.#begin(scores, cache);
  }

  /** The first rows of what stands in the stream. */
  scoreStream(cache: Cache, bucket: Bucket): Pass {
    this.#end();
    this.#gpu.submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    return this.#begin(this.#network.scratch.scores, cache);
  }

  /** The last row of a chain; its logits are row 0, its taps stay at the chain's last row. */
  scoreLast(cache: Cache, span: Span): Pass {
    this.run(cache.bodies, this.#rows([span]));
    const { pickedIndices, scores } = this.#network.scratch;
    this.#gpu.submission.upload(pickedIndices, new Uint32Array(this.leastRows).fill(span.count - 1));
    this.#gpu.submission.run(this.#picked.get(this.leastRows) as Plan, { keys: 0 });
    return this.#begin(scores, cache);
  }

  /**
   * No row: fills the cache. Two chunks in flight keep the device busy and let an abort through in between. `record`
   * may add to the submit what reads the chunk's taps.
   */
  async fill(cache: Cache, span: Span, record: (pass: Pass) => void): Promise<void> {
    this.run(cache.bodies, this.#rows([span]));
    record(this.#begin(this.#network.scratch.scores, cache));
    this.#gpu.flush();
    const before = this.#inFlight;
    this.#inFlight = this.#gpu.device.queue.onSubmittedWorkDone();
    await before;
  }

  free(): void {
    this.#gpu.flush();
    for (const plan of [...this.#heads.values(), ...this.#picked.values()]) plan.destroy();
    this.#sampler.free();
    this.#verifier.free();
    this.#deviceTreeRows.free();
  }

  #head(bucket: Bucket, picked: boolean): Plan {
    const plan = new Plan(this.#gpu);
    recordHead(plan, this.#network, bucket, picked);
    return plan;
  }

  #begin(logits: Tensor, cache: Cache, taps = cache.taps): Pass {
    const { hidden } = this.#network.architecture.sizes;
    const vocabulary = this.#vocabulary;
    const { tapLayers } = cache.options;
    const tools = { sampler: this.#sampler, verifier: this.#verifier, ringEntry: this.#deviceTreeRows };
    this.#pass = new Pass(this.#gpu, tools, { logits, taps, tapLayers, vocabulary, hidden });
    return this.#pass;
  }

  #bucket(rows: number): Bucket {
    return BUCKETS.find((size) => size >= Math.max(rows, this.leastRows)) as Bucket;
  }

  #end(): void {
    this.#pass?.end();
    this.#pass = null;
  }

  /** Draws that a tree names are recorded here, before the pass that reads them. */
  #rows(spans: readonly Span[]): RowsOf {
    const tokenRing = tokenRingOf(this.#gpu);
    const named = spans.map(({ tree: { tokens, parents } }) => ({
      tokens: tokens.map((t) => tokenRing.name(t)),
      parents,
    }));
    return (window) =>
      spans.flatMap(({ cursor, first, count }, i) =>
        treeRows(cursor.past, named[i] as (typeof named)[number], window, first, count, cursor.sources),
      );
  }

  /** Uploads rows and runs the plan for so many; draws of the pass before are recorded first, while its logits last. */
  run(plans: ReadonlyMap<Bucket, Plan>, rowsOf: RowsOf): Bucket {
    this.#end();
    const { submission } = this.#gpu;
    let bucket: Bucket = this.leastRows;
    let keys = 0;
    let branched = false;
    this.#windows.forEach((window, w) => {
      const rows = rowsOf(window);
      bucket = this.#bucket(rows.length);
      for (const { slot } of rows) keys = Math.max(keys, slot + 1);
      branched ||= branches(rows);
      submission.upload(this.#network.scratch.rows[w] as Tensor, packRows(rows, bucket));
    });
    submission.run(plans.get(bucket) as Plan, { keys, branched });
    return bucket;
  }
}
