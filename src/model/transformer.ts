// The language model: opens cursors, checks what it is asked, and hands out views of the passes that the executor runs.

import { refuse } from '../base/refuse.ts';
import type { Gpu } from '../gpu/device.ts';
import type { MatmulTuning } from '../kernels/matmul/matmul.ts';
import type { Architecture } from './architecture.ts';
import type { Arena } from './arena.ts';
import { CachedCursor, type Runner } from './cache/cursor.ts';
import { Cache, MOST_NODES, MOST_ROWS } from './cache/kv-cache.ts';
import { GrownTree } from './forward/device-tree.ts';
import { Executor } from './forward/executor.ts';
import { makeScratch } from './forward/interpreter.ts';
import { deviceTreeView, lastView, treeView } from './forward/views.ts';
import type {
  Combination,
  Cursor,
  CursorRows,
  DeviceTree,
  Drawn,
  Ensemble,
  ExtendOptions,
  Forward,
  Gathered,
  LanguageModel,
  OpenCursor,
  OpenEnsemble,
  Token,
  Tree,
} from './interface.ts';
import type { Lent, Weights } from './load/device-weights.ts';
import { tokenRingOf } from './sampling/token-ring.ts';

export interface TransformerParts {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly tuning: MatmulTuning;
  /** Owns the weights; the model adds its scratch and frees everything with it. */
  readonly arena: Arena;
}

interface Entry {
  readonly cursor: CachedCursor;
  readonly tree: Tree;
}

const NO_FORKS = { count: 0, room: 0 };

export class Transformer implements LanguageModel, Runner {
  readonly architecture: Architecture;
  /** GGUF's `rope_freqs.weight`, once it has been read. */
  ropeDivisors: Float32Array | undefined;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #executor: Executor;
  readonly #lent: Lent & { readonly tuning: MatmulTuning };
  readonly #caches = new Set<Cache>();
  #disposed = false;

  constructor({ gpu, architecture, weights, tuning, arena }: TransformerParts) {
    this.architecture = architecture;
    this.#gpu = gpu;
    this.#arena = arena;
    this.#lent = { embedding: weights.embedding, head: weights.head, tuning };
    const scratch = makeScratch(gpu, arena, architecture);
    this.#executor = new Executor({ gpu, architecture, weights, scratch, tuning }, arena);
  }

  get family(): string {
    return this.architecture.family;
  }
  get vocabulary(): number {
    return this.architecture.sizes.vocabulary;
  }
  get hidden(): number {
    return this.architecture.sizes.hidden;
  }
  get layers(): number {
    return this.architecture.sizes.layers;
  }
  get context(): number {
    return this.architecture.sizes.context;
  }
  get bytes(): number {
    return this.#arena.bytes;
  }
  get batchInvariant(): boolean {
    return this.#executor.leastRows === 1;
  }

  /** What drafters borrow; they must not outlive this model. */
  lend(): Lent & { readonly tuning: MatmulTuning } {
    this.#use();
    return this.#lent;
  }

  /** From here on every pass takes at least four rows. */
  padPasses(): void {
    this.#executor.leastRows = 4;
  }

  /** Compiles what does not depend on a cache. */
  ready(): Promise<void> {
    return this.#executor.ready();
  }

  /** `layers` restricts the body to some blocks, for the invariance check. */
  async open(options: OpenCursor = {}, layers?: readonly number[]): Promise<CachedCursor> {
    this.#use();
    const {
      capacity = this.context,
      tapLayers = [],
      cache: kind = 'f32',
      forks = NO_FORKS,
      nodes = MOST_ROWS,
      rollout,
      pool,
    } = options;
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this model is ${this.context}`);
    if (![forks.count, forks.room].every((n) => Number.isInteger(n) && n >= 0))
      throw refuse(`${forks.count} forks of ${forks.room} rows were asked for`);
    if (!Number.isInteger(nodes) || nodes < 1 || nodes > MOST_NODES)
      throw refuse(`trees of ${nodes} nodes were asked for; the most is ${MOST_NODES}`);
    for (const layer of tapLayers)
      if (!Number.isInteger(layer) || layer < 0 || layer >= this.layers)
        throw refuse(`layer ${layer} cannot be tapped: the model has layers 0 to ${this.layers - 1}`);
    const made = { positions: capacity, forks, half: kind === 'f16', tapLayers, nodes, rollout, pool };
    const cache = await Cache.allocate(this.#gpu, this.architecture, made, {
      ...this.#executor.shared,
      divisors: this.ropeDivisors,
    });
    try {
      await this.#executor.attach(cache, layers);
      this.#use(); // it may have been disposed meanwhile
    } catch (error) {
      this.#executor.detach(cache);
      throw error;
    }
    this.#caches.add(cache);
    return new CachedCursor(this, cache, capacity);
  }

  forward(batch: readonly { readonly cursor: Cursor; readonly tree: Tree }[]): readonly Forward[] {
    this.#use();
    const entries: readonly Entry[] = batch.map(({ cursor, tree }) => ({ ...this.#own(cursor), tree }));
    const [head] = entries;
    if (!head) throw refuse('an empty batch');
    const { cache } = head.cursor;
    if (entries.some(({ cursor }) => cursor.cache !== cache))
      throw refuse('the cursors of one batch must be forks of one cursor');
    if (new Set(entries.map(({ cursor }) => cursor)).size < entries.length)
      throw refuse('a cursor occurs twice in one batch');
    const total = entries.reduce((sum, { tree }) => sum + tree.tokens.length, 0);
    this.#fits(cache, total, entries.length);
    const versions = entries.map(({ cursor, tree }) => cursor.begin(tree));
    const pass =
      total > MOST_ROWS
        ? this.#executor.scoreTree(head.cursor, head.tree)
        : this.#executor.score(
            cache,
            entries.map((entry) => ({ ...entry, first: 0, count: entry.tree.tokens.length })),
          );
    let first = 0;
    const name = (token: Token) => tokenRingOf(this.#gpu).name(token);
    return entries.map(({ cursor, tree }, i) => {
      const start = first;
      first += tree.tokens.length;
      return treeView(pass, cursor, { tree, first: start, version: versions[i] as number, name });
    });
  }

  async join(others: readonly LanguageModel[], combination: Combination, options?: OpenEnsemble): Promise<Ensemble> {
    const { joinModels } = await import('./ensemble/device-ensemble.ts');
    this.#use();
    for (const other of others)
      if (!(other instanceof Transformer) || other.#gpu !== this.#gpu)
        throw refuse('an ensemble of models that are not on one device');
    return joinModels(this.#gpu, [this, ...others], combination, options);
  }

  async gather(draws: readonly Drawn[], rows: readonly CursorRows[]): Promise<Gathered> {
    const { gather } = await import('./forward/gather.ts'); // step systems alone need it
    this.#use();
    return gather(
      this.#gpu,
      draws,
      rows.map(({ cursor, ...span }) => ({ ...this.#own(cursor), ...span })),
    );
  }

  forwardDeviceTree(cursor: CachedCursor, tree: DeviceTree): Forward {
    this.#use();
    const { nodes: count } = tree;
    const grown = GrownTree.of(tree);
    if (!grown)
      throw refuse('a tree that is not on this device any more', 'A drafter holds the last tree that it grew.');
    this.#fits(cursor.cache, count);
    const version = cursor.beginDeviceTree(count, grown.levels);
    const { length: position, next: base } = cursor;
    const pass = this.#executor.scoreDeviceTree(cursor, grown, count);
    return deviceTreeView(pass, cursor, { count, version, position, base });
  }

  prefill(cursor: CachedCursor, tree: Tree, onPass: ExtendOptions['onPass']): Promise<void> {
    this.#use();
    const count = tree.tokens.length;
    return this.#executor.fill(cursor.cache, { cursor, tree, first: 0, count }, (pass) =>
      onPass?.({ rows: count, taps: pass.taps(0, count) }),
    );
  }

  finish(cursor: CachedCursor, tree: Tree, onPass: ExtendOptions['onPass']): Forward {
    this.#use();
    const count = tree.tokens.length;
    const pass = this.#executor.scoreLast(cursor.cache, { cursor, tree, first: 0, count });
    onPass?.({ rows: count, taps: pass.taps(0, count) });
    return lastView(pass, count - 1, cursor.length + count);
  }

  closed(cache: Cache): void {
    if (this.#caches.delete(cache)) this.#executor.detach(cache);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const cache of this.#caches) this.#executor.detach(cache);
    this.#caches.clear();
    this.#executor.free();
    this.#arena.free();
  }

  #fits({ options: { nodes } }: Cache, rows: number, cursors = 1): void {
    const most = cursors > 1 ? MOST_ROWS : nodes;
    if (rows > most) throw refuse(`${rows} rows in one pass; here the most is ${most}`, 'See OpenCursor.nodes.');
  }

  #own(cursor: Cursor): Pick<Entry, 'cursor'> {
    if (!(cursor instanceof CachedCursor) || !this.#caches.has(cursor.cache))
      throw refuse('this cursor is not one of this model, or it was disposed');
    return { cursor };
  }

  #use(): void {
    if (this.#disposed) throw refuse('this model was disposed');
  }
}
