// The language model: it opens cursors, checks what it is asked, and gives out views of the passes that the executor
// runs. `forward` is the one way in.

import { MOST_ROWS } from '../base/pass-rows.ts';
import { refuse } from '../base/refuse.ts';
import type { Gpu } from '../gpu/device.ts';
import type { MatmulTuning } from '../kernels/matmul/matmul.ts';
import type { Architecture } from './architecture.ts';
import type { Arena } from './arena.ts';
import { CachedCursor, type CursorPass, type Runner } from './cache/cursor.ts';
import { Cache, NO_FORKS } from './cache/kv-cache.ts';
import { type Past, treeRows } from './cache/visibility.ts';
import { tooManyRows } from './check-tree.ts';
import { joinModels } from './ensemble/device-ensemble.ts';
import { GrownTree } from './forward/device-tree.ts';
import { Executor, type PassDescription } from './forward/executor.ts';
import { gather } from './forward/gather.ts';
import type { Pass } from './forward/pass.ts';
import type { PassRows } from './forward/pass-rows.ts';
import type { RopeDivisors } from './forward/rope-table.ts';
import { makeScratch } from './forward/scratch.ts';
import { deviceTreeView, treeView } from './forward/views.ts';
import type {
  Combination,
  Cursor,
  CursorRows,
  DeviceTree,
  Drawn,
  Ensemble,
  Gathered,
  LanguageModel,
  OpenCursor,
  OpenEnsemble,
  TextRules,
  Token,
  Tree,
} from './interface.ts';
import { MOST_NODES, SPARE_ROWS } from './limits.ts';
import type { LoadTimes } from './load/checkpoint-tensors.ts';
import type { Lent, Weights } from './load/device-weights.ts';
import type { AdjustedText } from './sampling/adjusted-text.ts';
import { type NamedToken, tokenRingOf } from './sampling/token-ring.ts';

export interface TransformerParts {
  readonly gpu: Gpu;
  readonly architecture: Architecture;
  readonly weights: Weights;
  readonly tuning: MatmulTuning;
  /** Owns the weights; the model adds its scratch and frees everything with it. */
  readonly arena: Arena;
}

/** A tree that the host knows, and the cursor that it follows. */
interface Entry {
  readonly cursor: CachedCursor;
  readonly tree: Tree;
}

export class Transformer implements LanguageModel, Runner {
  readonly architecture: Architecture;
  /** From the checkpoint's tensors, once they have been read. */
  ropeDivisors: RopeDivisors = {};
  loadTimes: LoadTimes = { read: 0, repack: 0, compile: 0, check: 0 };
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
    const { embedding, head, headBias, finalNorm } = weights;
    this.#lent = { embedding, head, headBias, finalNorm, epsilon: architecture.norm.epsilon, tuning };
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

  /** Every later pass takes at least four rows. */
  padPasses(): void {
    this.#executor.leastRows = 4;
  }

  /** Compiles what does not depend on a cache. */
  ready(): Promise<void> {
    return this.#executor.ready();
  }

  async keepDistributions(): Promise<void> {
    this.#use();
    await this.#executor.keepDistributions();
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
      length = 0,
      spare = SPARE_ROWS,
    } = options;
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > this.context)
      throw refuse(`a cursor of ${capacity} rows was asked for; the context of this model is ${this.context}`);
    if (!Number.isInteger(length) || length < 0 || length > capacity)
      throw refuse(`a sequence of ${length} rows in a cursor of ${capacity}`);
    if (![forks.count, forks.room].every((n) => Number.isInteger(n) && n >= 0))
      throw refuse(`${forks.count} forks of ${forks.room} rows were asked for`);
    if (!Number.isInteger(nodes) || nodes < 1 || nodes > MOST_NODES)
      throw refuse(`trees of ${nodes} nodes were asked for; the most is ${MOST_NODES}`);
    if (!Number.isInteger(spare) || spare < 0) throw refuse(`${spare} spare rows were asked for`);
    for (const layer of tapLayers)
      if (!Number.isInteger(layer) || layer < -1 || layer >= this.layers)
        throw refuse(
          `layer ${layer} cannot be tapped: the model has layers 0 to ${this.layers - 1}, and -1 is its input`,
        );
    const kept = rollout ? undefined : spare; // what a row was grounded on is not known when it is computed anew
    const rest = { precision: kind, tapLayers, nodes, rollout, pool, prompts: true };
    const made = { positions: capacity, forks, spare: kept, ...rest };
    const cache = await Cache.allocate(this.#gpu, this.architecture, made, {
      ...this.#executor.shared,
      divisors: this.ropeDivisors,
    });
    this.#caches.add(cache); // before it is ready: a cursor that closes meanwhile must not trim what this one binds
    try {
      await this.#executor.attach(cache, layers);
      this.#use(); // it may have been disposed meanwhile
    } catch (error) {
      this.closed(cache);
      throw error;
    }
    return new CachedCursor(this, cache, capacity, length);
  }

  forward(
    batch: readonly { readonly cursor: Cursor; readonly tree: Tree | DeviceTree }[],
    logits: PassDescription['logits'] = 'all',
  ): readonly CursorPass[] {
    this.#use();
    const entries = batch.map(({ cursor, tree }) => ({ cursor: this.#own(cursor), tree }));
    const [head] = entries;
    if (!head) throw refuse('an empty batch');
    if (entries.length === 1 && 'device' in head.tree) return [this.#forwardDeviceTree(head.cursor, head.tree)];
    return this.#forwardTrees(
      entries.map(({ cursor, tree }) => {
        if ('device' in tree) throw refuse('a tree on the device in a pass with others', 'It takes a pass of its own.');
        return { cursor, tree };
      }),
      logits,
    );
  }

  #forwardTrees(entries: readonly Entry[], logits: PassDescription['logits']): readonly CursorPass[] {
    const { cache } = (entries[0] as Entry).cursor;
    if (entries.some(({ cursor }) => cursor.cache !== cache))
      throw refuse('the cursors of one batch must be forks of one cursor');
    if (new Set(entries.map(({ cursor }) => cursor)).size < entries.length)
      throw refuse('a cursor occurs twice in one batch');
    const alone = entries.length === 1;
    const count = entries.reduce((sum, { tree }) => sum + tree.tokens.length, 0);
    if (!alone && count > MOST_ROWS) throw tooManyRows(count, MOST_ROWS);
    const nodes = !alone ? MOST_ROWS : logits === 'all' ? cache.options.nodes : cache.promptRows;
    const versions = entries.map(({ cursor, tree }) => cursor.begin(tree, { nodes, commits: logits !== 'all' }));
    const name = (token: Token) => tokenRingOf(this.#gpu).name(token);
    const named = entries.map(({ cursor, tree: { tokens, parents } }) => ({
      cursor,
      tree: { tokens: tokens.map(name), parents }, // before the pass: naming a token records its draw
    }));
    const rows: PassRows = {
      from: 'host',
      count,
      rows: (window, first, count) =>
        named.flatMap(({ cursor: { past, sources }, tree }) =>
          alone
            ? treeRows(past, tree, window, first, count, sources)
            : treeRows(past, tree, window, 0, tree.tokens.length, sources),
        ),
      trees: entries.map(({ cursor: { past, sources, sequence: length }, tree }) => ({
        past,
        sources,
        length,
        count: tree.tokens.length,
      })),
    };
    const pass = this.#executor.run({ cache, rows, logits });
    const [own] = named;
    if (alone && own && logits !== 'none') this.#adjust(pass, own.cursor, own.tree, logits);
    let next = 0;
    return entries.map(({ cursor, tree }, i) => {
      const first = next;
      next += tree.tokens.length;
      return treeView(pass, cursor, { tree, first, logits, version: versions[i] as number, name });
    });
  }

  #forwardDeviceTree(cursor: CachedCursor, tree: DeviceTree): CursorPass {
    const { nodes: count } = tree;
    const grown = GrownTree.of(tree);
    if (!grown)
      throw refuse('a tree that is not on this device any more', 'A drafter keeps only the last tree that it grew.');
    const { cache, past, length: position, next: base } = cursor;
    if (count > cache.options.nodes) throw tooManyRows(count, cache.options.nodes);
    const version = cursor.beginDeviceTree(count, grown.levels);
    const rows = { from: 'tree', tree: grown, count, past } as const;
    const pass = this.#executor.run({ cache, rows, logits: 'all' });
    if (cursor.adjusted) pass.adjust(cursor.adjusted, { rows: count, first: 0, base: position, nodes: null });
    return deviceTreeView(pass, cursor, { count, version, position, base });
  }

  /** Changes a pass's logits by the rules of its cursor's text, if there are any. */
  #adjust(
    pass: Pass,
    cursor: CachedCursor,
    { tokens, parents }: { tokens: readonly NamedToken[]; parents: readonly number[] },
    logits: PassDescription['logits'],
  ): void {
    const { adjusted, unread } = cursor;
    if (!adjusted) return;
    const drafts = unread.map((token) => tokenRingOf(this.#gpu).name(token));
    const all = [
      ...drafts.map((token, i) => ({ ...token, parent: i - 1 })),
      ...tokens.map((token, i) => {
        const parent = parents[i] as number;
        return { ...token, parent: drafts.length + parent };
      }),
    ];
    const last = logits === 'last';
    // Of a chain whose last row alone is scored, only that row's drafts count: of committed text there are none.
    const nodes = last ? all.slice(-MOST_NODES).map((node, i) => ({ ...node, parent: i - 1 })) : all;
    if (nodes.length > MOST_NODES) throw tooManyRows(nodes.length, MOST_NODES);
    pass.adjust(adjusted, {
      rows: last ? 1 : tokens.length,
      first: last ? nodes.length - 1 : drafts.length,
      base: cursor.length + tokens.length - nodes.length,
      nodes,
    });
  }

  adjusted(rules: TextRules, cache: Cache): Promise<AdjustedText> {
    this.#use();
    return this.#executor.adjusted(rules, cache);
  }

  flush(): void {
    this.#gpu.flush();
  }

  renew(cache: Cache, past: Past): void {
    this.#executor.renew(cache, past);
  }

  submitted(): Promise<void> {
    return this.#executor.submitted();
  }

  async join(others: readonly LanguageModel[], combination: Combination, options?: OpenEnsemble): Promise<Ensemble> {
    this.#use();
    for (const other of others)
      if (!(other instanceof Transformer) || other.#gpu !== this.#gpu)
        throw refuse('an ensemble of models that are not on one device');
    return joinModels(this.#gpu, [this, ...others], combination, options);
  }

  async gather(draws: readonly Drawn[], rows: readonly CursorRows[]): Promise<Gathered> {
    this.#use();
    return gather(
      this.#gpu,
      draws,
      rows.map(({ cursor, ...span }) => ({ cursor: this.#own(cursor), ...span })),
    );
  }

  closed(cache: Cache): void {
    if (!this.#caches.delete(cache)) return;
    this.#executor.detach(cache);
    if (this.#caches.size === 0) this.#executor.trim();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const cache of this.#caches) this.#executor.detach(cache);
    this.#caches.clear();
    this.#executor.free();
    this.#arena.free();
  }

  #own(cursor: Cursor): CachedCursor {
    if (!(cursor instanceof CachedCursor) || !this.#caches.has(cursor.cache))
      throw refuse('this cursor is not one of this model, or it was disposed');
    return cursor;
  }

  #use(): void {
    if (this.#disposed) throw refuse('this model was disposed');
  }
}
