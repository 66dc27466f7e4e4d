// The language model: opens cursors, checks what it is asked, and hands out views of the passes that the executor runs.
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { MatmulTuning } from '../kernels/matmul.ts';
import type { Architecture } from './architecture.ts';
import type { Arena } from './arena.ts';
import { type Board, boardOf } from './board.ts';
import { Cache, MOST_NODES, MOST_ROWS } from './cache.ts';
import { CachedCursor, type Runner } from './cursor.ts';
import { Executor } from './executor.ts';
import { makeScratch } from './forward.ts';
import { GrownTree } from './held-tree.ts';
import type {
  Cursor,
  Draft,
  ExtendOptions,
  Forward,
  HeldTree,
  LanguageModel,
  OpenCursor,
  Token,
  Tree,
} from './model.ts';
import type { Pass } from './pass.ts';
import { MOST_LAWS } from './sampler.ts';
import { depths } from './visibility.ts';
import type { Lent, Weights } from './weights.ts';

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

const refuse = (message: string, hint = ''): OutriderError => new OutriderError('bad-request', message, hint);

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
    const made = { positions: capacity, forks, half: kind === 'f16', tapLayers, nodes };
    const cache = await Cache.allocate(this.#gpu, this.architecture, made, {
      moves: this.#executor.moves,
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
    const entries = batch.map(({ cursor, tree }) => this.#own(cursor, tree));
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
    const name = (token: Token) => boardOf(this.#gpu).name(token);
    return entries.map(({ cursor, tree }, i) => {
      const start = first;
      first += tree.tokens.length;
      return provisional(name, pass, start, cursor, tree, versions[i] as number);
    });
  }

  forwardHeld(cursor: CachedCursor, tree: HeldTree): Forward {
    this.#use();
    const { nodes: count } = tree;
    const grown = GrownTree.of(tree);
    if (!grown)
      throw refuse('a tree that is not on this device any more', 'A drafter holds the last tree that it grew.');
    this.#fits(cursor.cache, count);
    const version = cursor.beginHeld(count, grown.levels);
    const { length: position, next: base } = cursor;
    const pass = this.#executor.scoreHeld(cursor, grown, count);
    return {
      rows: count,
      logits: pass.logits(0, count),
      taps: pass.taps(0, count),
      draw: unknown,
      top: (row, n) => pass.top(rowIn(row, count), n),
      accept: unknown,
      verify: async (laws, sampling) => {
        if (laws) throw refuse('sampled drafts that are not a chain');
        const draft = { first: 0, base, position, count, nodes: null, sampling, laws };
        return cursor.settle(version, () => pass.verify(draft, cursor.cache));
      },
    };
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
    const position = cursor.length + count;
    const row = (index: number): number => rowIn(index, 1);
    return {
      rows: 1,
      logits: pass.logits(0, 1),
      taps: pass.taps(count - 1, 1),
      draw: (index, sampling, options) => pass.draw(row(index), sampling, position, options?.law),
      top: (index, n) => pass.top(row(index), n),
      accept: committed,
      verify: async () => committed(),
    };
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

  #own(cursor: Cursor, tree: Tree): Entry {
    if (!(cursor instanceof CachedCursor) || !this.#caches.has(cursor.cache))
      throw refuse('this cursor is not one of this model, or it was disposed');
    return { cursor, tree };
  }

  #use(): void {
    if (this.#disposed) throw refuse('this model was disposed');
  }
}

const committed = (): never => {
  throw refuse('the rows of extend are committed already');
};

/** Of a tree whose shape the host does not know. */
const unknown = (): never => {
  throw refuse('the host does not know this tree before its verdict');
};

const rowIn = (row: number, rows: number): number => {
  if (!Number.isInteger(row) || row < 0 || row >= rows) throw refuse(`row ${row} of a pass of ${rows}`);
  return row;
};

/** What verification takes: one root, and where drafts were sampled, a chain with a law for each. */
const checkDraft = ({ tokens, parents }: Tree, laws: Draft['laws']): void => {
  if (parents.some((parent, i) => (i === 0) !== (parent === -1)))
    throw refuse('a draft has one root, the last committed token');
  if (!laws) return;
  if (laws.length !== tokens.length - 1) throw refuse(`${laws.length} laws for ${tokens.length - 1} drafts`);
  if (laws.length >= MOST_LAWS) throw refuse(`${laws.length} sampled drafts; the most is ${MOST_LAWS - 1}`);
  if (parents.some((parent, i) => parent !== i - 1)) throw refuse('sampled drafts that are not a chain');
};

/** A pass over a tree, as its cursor sees it: rows from `first` on. */
const provisional = (
  name: Board['name'],
  pass: Pass,
  first: number,
  cursor: CachedCursor,
  tree: Tree,
  version: number,
): Forward => {
  const rows = tree.tokens.length;
  const depth = depths(tree.parents);
  const { length } = cursor;
  return {
    rows,
    logits: pass.logits(first, rows),
    taps: pass.taps(first, rows),
    draw: (row, sampling, options) =>
      pass.draw(first + rowIn(row, rows), sampling, length + (depth[row] as number) + 1, options?.law),
    top: (row, n) => pass.top(first + rowIn(row, rows), n),
    accept: (path) => cursor.accept(version, tree, path),
    verify: async (laws, sampling) => {
      checkDraft(tree, laws);
      const nodes = tree.tokens.map((token, i) => ({
        ...name(token),
        parent: tree.parents[i] as number,
        position: length + (depth[i] as number),
      }));
      const draft = { first, base: cursor.next, position: length, count: rows, nodes, sampling, laws };
      return cursor.settle(version, () => pass.verify(draft, cursor.cache));
    },
  };
};
