// Drafts with EAGLE-3 or the MTP layer of a model: one layer turns a feature and the embedding of the token after it into
// the next feature, and a head draws the next draft from that. A chain or a tree of drafts is recorded without waiting
// for the host.

import { refuse } from '../../base/refuse.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { BUCKETS, type Bucket } from '../../kernels/matmul/matmul.ts';
import { treeCandidates } from '../../kernels/tree/grow-tree.ts';
import { rowsOf } from '../arena.ts';
import { treeRows } from '../cache/visibility.ts';
import { chain, checkTokens } from '../check-tree.ts';
import { GrownTree } from '../forward/device-tree.ts';
import type { Pass } from '../forward/pass.ts';
import type { RowsOf } from '../forward/pass-rows.ts';
import { windowsOf } from '../forward/scratch.ts';
import type {
  Choice,
  DeviceTree,
  Drawn,
  FeatureChain,
  FeatureCursor,
  FeatureDrafter,
  Forward,
  OpenDrafter,
  Sampling,
  Token,
  TreeShape,
} from '../interface.ts';
import { MOST_NODES } from '../limits.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { LikeliestDrafts } from './likeliest-drafts.ts';
import { type Context, ContextCursor, type DrafterParts, TapDrafter } from './tap-drafter.ts';
import { MOST_LEVELS, MOST_TREE, TreeGrower } from './tree-grower.ts';

export class Eagle3Drafter extends TapDrafter implements FeatureDrafter {
  readonly kind: FeatureDrafter['kind'];
  /** The target's token for each entry of the drafter's vocabulary; of a reduced one known when the weights are loaded. */
  ids: readonly number[];
  readonly grower: TreeGrower;
  readonly likeliest: LikeliestDrafts;
  /** Trees grown so far; only the last one is still on the device. */
  grown = 0;

  constructor(parts: DrafterParts, kind: FeatureDrafter['kind']) {
    super(parts);
    this.kind = kind;
    const { gpu, arena, architecture, reduced } = parts;
    const { vocabulary } = architecture.sizes;
    this.ids = reduced ? [] : Array.from({ length: vocabulary }, (_, token) => token);
    const ids = reduced?.ids ?? arena.storage(vocabulary * 4, 'draft ids');
    if (!reduced) gpu.device.queue.writeBuffer(ids.buffer, 0, Uint32Array.from(this.ids));
    this.grower = new TreeGrower(this.network, arena, ids);
    this.likeliest = new LikeliestDrafts(this.network, arena);
  }

  override async ready(): Promise<void> {
    await Promise.all([super.ready(), this.grower.ready(), this.likeliest.ready()]);
  }

  deepest(width: number): number {
    return deepestTree(width);
  }

  async open(options: OpenDrafter = {}): Promise<FeatureCursor> {
    const context = await this.allocate(options);
    try {
      const { hidden } = this.architecture.sizes;
      const last = () => context.arena.activation(1, hidden, 'last feature');
      return new Eagle3Cursor(this, context, await this.network.gpu.allocating('the last feature', last));
    } catch (error) {
      this.close(context);
      throw error;
    }
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.grower.free();
    this.likeliest.free();
  }
}

class Eagle3Cursor extends ContextCursor implements FeatureCursor {
  readonly #drafter: Eagle3Drafter;
  /** What the layer gave for the last row of the context. */
  readonly #last: Tensor;
  /** The row that `#last` belongs to; -1 when a rewind has passed it. */
  #known = -1;

  constructor(drafter: Eagle3Drafter, context: Context, last: Tensor) {
    super(drafter, context);
    this.#drafter = drafter;
    this.#last = last;
  }

  append(pass: Pick<Forward, 'taps'>, rows: readonly number[], next: readonly Token[]): void {
    if (next.length !== rows.length) throw refuse(`${rows.length} rows, but ${next.length} tokens that follow them`);
    checkTokens(next, this.#drafter.target.vocabulary);
    this.put(pass, rows, next);
  }

  chain(depth: number, sampling: Sampling): FeatureChain {
    const { network } = this.#drafter;
    this.#begin(depth);
    const drawn: Drawn[] = [];
    let pass: Pass;
    do {
      const drafts = drawn.map(({ token }) => token);
      pass = this.#passAfter(drafts, 'all');
      drawn.push(pass.draw(0, sampling, this.length + 1 + drawn.length, sampling.temperature > 0));
    } while (drawn.length < depth);
    const distributions = drawn.flatMap(({ distribution }) => (distribution ? [distribution] : []));
    return {
      tokens: drawn.map(({ token }) => token),
      distributions: sampling.temperature > 0 ? distributions : null,
      logits: pass.view(rowsOf(network.scratch.logits, 1), this.#drafter.architecture.sizes.vocabulary),
    };
  }

  async chainWhile(
    depth: number,
    n: number,
    more: (best: readonly Choice[]) => boolean,
  ): Promise<readonly (readonly Choice[])[]> {
    this.#begin(depth);
    const { ids } = this.#drafter;
    const places: (readonly Choice[])[] = [];
    for (;;) {
      const drafts = places.map(([drafted]) => (drafted as Choice).token);
      this.#passAfter(drafts, 'unspread');
      const found = await this.#drafter.likeliest.read(n);
      const best = found.map((choice) => ({ ...choice, token: ids[choice.token] as number }));
      places.push(best);
      if (places.length === depth || !more(best)) return places;
    }
  }

  tree(anchor: Token, { depth, width, nodes }: TreeShape): DeviceTree {
    const { executor, grower, network } = this.#drafter;
    checkShape({ depth, width, nodes }, this.#drafter.architecture.sizes.vocabulary);
    this.room(depth - 1);
    const named = tokenRingOf(network.gpu).name(anchor);
    this.#recall();
    const { length } = this;
    const { cache } = this.context;
    const shape = { width, levels: depth, nodes: nodes + 1 };
    const [window] = windowsOf(network.architecture); // of its one layer
    const place = { base: length, position: length, scored: 0, feature: 0, window: window ?? 0 };
    grower.begin({ ...shape, ...named, ...place });
    executor.run({ cache, rows: { from: 'stream', count: 1 }, logits: 'unspread' });
    grower.expand(1, 1);
    const bucket = BUCKETS.find((size) => size >= width) as Bucket;
    for (let level = 1; level < depth; level++) {
      grower.advance(level, bucket);
      const keys = length + level * width;
      executor.run({ cache, rows: { from: 'device', count: bucket, keys }, logits: 'unspread' });
      grower.expand(level + 1, bucket);
    }
    grower.select();
    const serial = ++this.#drafter.grown;
    return {
      nodes: nodes + 1,
      device: new GrownTree(grower.nodes, depth + 1, () => this.#drafter.grown === serial),
    };
  }

  override rewind(length: number): void {
    super.rewind(length);
    if (length <= this.#known) this.#known = -1;
  }

  protected override flush(plans = this.context.queue.plans): number {
    const count = super.flush(plans);
    if (count === 0 || plans === this.context.queue.unscored) return count;
    const { gpu, scratch } = this.#drafter.network;
    gpu.submission.copy(rowsOf(scratch.stream, 1, count - 1), this.#last);
    this.#known = this.appended - 1;
    return count;
  }

  /** Before the first pass of a chain. */
  #begin(depth: number): void {
    if (!Number.isInteger(depth) || depth < 1 || depth >= MOST_NODES)
      throw refuse(`a chain of ${depth} drafts; 1 to ${MOST_NODES - 1} can be had`);
    this.room(depth - 1);
    this.#recall();
  }

  /** The pass that scores the token after these drafts of a chain. The one before it left its feature in the stream. */
  #passAfter(drafts: readonly Token[], logits: 'all' | 'unspread'): Pass {
    const { executor, network } = this.#drafter;
    const { length } = this;
    const { cache } = this.context;
    if (drafts.length === 0) return executor.run({ cache, rows: { from: 'stream', count: 1 }, logits });
    const past = { prefix: length, start: length, own: 0 };
    const tokenRing = tokenRingOf(network.gpu);
    const { tokens, parents } = chain(drafts);
    const tree = { tokens: tokens.map((token) => tokenRing.name(token)), parents };
    const rows: RowsOf = (window) => treeRows(past, tree, window, tokens.length - 1, 1);
    return executor.run({ cache, rows: { from: 'host', count: 1, rows }, logits });
  }

  /** Puts the last row's feature into row 0 of the stream. */
  #recall(): void {
    this.flush();
    if (this.length === 0 || this.#known !== this.length - 1)
      throw refuse('no row to draft after: the context is empty or was rewound', 'Append a row first.');
    const { gpu, scratch } = this.#drafter.network;
    gpu.submission.copy(this.#last, rowsOf(scratch.stream, 1));
  }
}

/** A row's mask has a bit for each row of the beams before. */
const deepestTree = (width: number): number => Math.min(MOST_LEVELS, 1 + Math.floor(MOST_NODES / width));

const checkShape = ({ depth, width, nodes }: TreeShape, vocabulary: number): void => {
  if (![depth, width, nodes].every((n) => Number.isInteger(n) && n > 0))
    throw refuse(`a tree of depth ${depth}, width ${width} and ${nodes} nodes`);
  const widest = Math.min(MOST_TREE.width, vocabulary);
  if (width > widest) throw refuse(`a tree of width ${width}; the most is ${widest}`);
  const deepest = deepestTree(width);
  if (depth > deepest) throw refuse(`a tree of depth ${depth} and width ${width}; the deepest of it is ${deepest}`);
  const most = Math.min(MOST_TREE.nodes, treeCandidates({ width, levels: depth }));
  if (nodes > most) throw refuse(`a tree of ${nodes} nodes; here the most is ${most}`);
};
