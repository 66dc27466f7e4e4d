// What the layers keep of one sequence and its forks, keys and values for the most part: buffers for each layer, whose
// slots the cursors assign, and the plans that are recorded with these buffers.
import { MOST_ROWS, PROMPT_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import {
  type AttentionTuning,
  attentionOf,
  attentionScratchBytes,
  attentionTuning,
} from '../../kernels/attention/attention.ts';
import type { Attention } from '../../kernels/attention/attention-shape.ts';
import { type CachePrecision, unitsOf } from '../../kernels/cache/cache-precision.ts';
import { compact, type Move, packMoves } from '../../kernels/cache/compact.ts';
import { keepTokens } from '../../kernels/cache/keep-tokens.ts';
import { moveRows } from '../../kernels/cache/kept-rows.ts';
import { keptWords } from '../../kernels/convolution/short-convolution.ts';
import { deltaChannels, deltaWords } from '../../kernels/delta-net/delta-shape.ts';
import { BUCKETS } from '../../kernels/matmul/matmul.ts';
import { type Architecture, ropesOf, type Sizes } from '../architecture.ts';
import { Arena } from '../arena.ts';
import { type Rope, type RopeDivisors, ropeTable, type Span } from '../forward/rope-table.ts';
import type { Rollout } from '../interface.ts';
import { MOST_NODES } from '../limits.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { LongRope, longRopeBytes, longRopeLimit } from './long-rope.ts';
import { Pool } from './pooled-states.ts';
import { layerStateBytes, RecurrentStates, stateScratch } from './recurrent-states.ts';
import { RolloutState } from './rollout-state.ts';
import type { RowsAnew } from './rows-anew.ts';
import { type CacheRows, cacheSlots, largestWindow, ringSlots } from './slots.ts';
import type { Past } from './visibility.ts';
import { WindowRing } from './window-ring.ts';

/** Moves of one compaction dispatch; verification writes as many. */
const MOVES = MOST_NODES;
export const MOVE_BYTES = MOVES * 8;

export interface CacheOptions extends CacheRows {
  readonly precision: CachePrecision;
  readonly tapLayers: readonly number[];
  /** Of the largest tree, at most 64. */
  readonly nodes: number;
  readonly rollout?: Rollout | undefined;
  readonly pool?: boolean | undefined;
  /** Whether prompts are read into it, in passes that score their last row at most. */
  readonly prompts?: boolean | undefined;
}

/** What the caches of a model share. */
export interface Shared {
  /** The list of moves; the host and verification write it. */
  readonly moves: Tensor;
  /** The residual stream; after a pass, the output of the last layer. */
  readonly stream: Tensor;
}

export const NO_FORKS = { count: 0, room: 0 } as const;

/** Whether inputs of convolutions are f16: they are at least that. */
export const isHalf = (precision: CachePrecision): boolean => precision !== 'f32';

type CacheSize = Pick<CacheOptions, 'positions' | 'precision' | 'spare'> & Partial<Pick<CacheOptions, 'forks'>>;

const rowsOf = ({ positions, spare, forks = NO_FORKS }: CacheSize): CacheRows => ({ positions, spare, forks });

/**
 * The buffers of a layer: keys and values of its rows, or the inputs of its convolution; of a delta net those, what the
 * delta rule takes of each row, and the states.
 */
const layerBuffers = (architecture: Architecture, layer: number, size: CacheSize): readonly number[] => {
  const { sizes, blocks } = architecture;
  const { precision, forks = NO_FORKS } = size;
  const slots = cacheSlots(rowsOf(size));
  const mixer = blocks[layer]?.mixer;
  if (mixer?.kind === 'convolution') return [slots * keptWords(sizes.hidden, isHalf(precision)) * 4];
  if (mixer?.kind === 'delta-net') {
    const inputs = slots * keptWords(deltaChannels(mixer.shape), isHalf(precision)) * 4;
    return [inputs, slots * deltaWords(mixer.shape) * 4, layerStateBytes(mixer.shape, forks.count)];
  }
  const { units, words } = unitsOf(sizes.paddedHead, precision);
  const kept = (mixer?.window != null && ringSlots(architecture, rowsOf(size))) || slots;
  const bytes = kept * sizes.keyValueHeads * units * words * 8;
  return [bytes, bytes];
};

const allBuffers = (architecture: Architecture, size: CacheSize): readonly number[] =>
  architecture.blocks.flatMap((_, layer) => layerBuffers(architecture, layer, size));

/** The largest buffer of a cache. */
export const largestBuffer = (architecture: Architecture, size: CacheSize): number =>
  Math.max(...allBuffers(architecture, size));

/** What all layers keep. */
export const cacheBytes = (architecture: Architecture, size: CacheSize): number =>
  allBuffers(architecture, size).reduce((sum, bytes) => sum + bytes, 0);

/** The most scratch that attention takes for the sake of prompts. */
const PROMPT_SCRATCH = 4 * 2 ** 20;

const scratchOfRows = (rows: number, sizes: Sizes, capacity: number, tuning: AttentionTuning): number =>
  attentionScratchBytes({ ...sizes, rows, headDim: sizes.paddedHead, capacity }, tuning);

/** Rows that attention takes at once: of a prompt's pass all, unless their scratch would be large. */
const attentionRows = ({ sizes }: Architecture, capacity: number, tuning: AttentionTuning): number =>
  scratchOfRows(PROMPT_ROWS, sizes, capacity, tuning) <= PROMPT_SCRATCH ? PROMPT_ROWS : MOST_ROWS;

/**
 * Bytes of the other buffers whose size grows with the context. The cache allocates this list and the memory estimate
 * adds it up, so such scratch of a new kernel belongs here.
 */
export const cacheScratch = (architecture: Architecture, size: CacheSize, tuning: AttentionTuning) => {
  const capacity = cacheSlots(rowsOf(size));
  const ring = ringSlots(architecture, rowsOf(size));
  const longRope = longRopeBytes(architecture, size.positions);
  return {
    /** cos and sin of every position, for each RoPE. */
    ropes: ropesOf(architecture).map(({ dimensions }) => size.positions * dimensions * 4),
    longRope,
    /** The token of every slot, where rows may have to be computed anew. */
    tokens: ring !== null || longRope.length > 0 ? capacity * 4 : 0,
    states: Object.values(stateScratch(architecture, (size.forks ?? NO_FORKS).count)),
    attention: scratchOfRows(attentionRows(architecture, capacity, tuning), architecture.sizes, capacity, tuning),
  };
};

/** Where a tree collects the results of its passes, if it takes several. */
export interface Wide {
  readonly logits: Tensor;
  readonly taps: readonly Tensor[];
}

export interface KeyValueCache {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** Inputs of a convolution: `[slot][channels]`, as short-convolution.ts keeps them. */
export interface ConvolutionCache {
  readonly inputs: Tensor;
}

/** `rows`: `[slot][words]`, and `states`, as delta-rule.ts has them. */
export interface DeltaCache extends ConvolutionCache {
  readonly rows: Tensor;
  readonly states: Tensor;
}

/** As its layer's mixer has it. */
export type LayerCache = KeyValueCache | ConvolutionCache | DeltaCache;

export class Cache {
  readonly options: CacheOptions;
  readonly slots: number;
  readonly layers: readonly LayerCache[];
  /** cos and sin of every position, for each RoPE of the architecture. */
  readonly tables: ReadonlyMap<Rope, Tensor>;
  /** `promptRows` for each tapped layer; those of the last layer are the stream as a pass leaves it. */
  readonly taps: readonly Tensor[];
  /** Attention's scratch. */
  readonly attention: Tensor;
  readonly attend: Attention;
  /** Rows that its scratch has room for. */
  readonly attentionRows: number;
  /** Null where trees fit one pass. */
  readonly wide: Wide | null;
  /** Null where no sequence of this cache is longer than the length that longrope's short factors hold for. */
  readonly longRope: LongRope | null;
  /** Null where every layer keeps all slots. */
  readonly ring: WindowRing | null;
  /** `[slot]`: the token of each slot's row; null where no row is ever computed anew. */
  readonly tokens: Tensor | null;
  /** What each row is grounded on; null without `rollout`. */
  readonly rolloutState: RolloutState | null;
  /** Null in a model without recurrent layers. */
  readonly states: RecurrentStates | null;
  /** Each row's hidden state; null without `pool`. */
  readonly pool: Pool | null;
  /** Rows of the largest pass that reads a prompt. */
  readonly promptRows: number;
  /** Embedding and blocks, for each number of rows; recorded by the executor. */
  readonly bodies: ReadonlyMap<number, Plan>;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #moves: Tensor;
  readonly #compaction: Plan;
  readonly #architecture: Architecture;

  /** `divisors`: see rope-table.ts. */
  static async allocate(
    gpu: Gpu,
    architecture: Architecture,
    options: CacheOptions,
    { moves, stream, divisors }: Shared & { readonly divisors: RopeDivisors },
  ): Promise<Cache> {
    const arena = new Arena(gpu);
    try {
      const what = `a cache of ${options.positions} rows`;
      const cache = await gpu.allocating(what, () => new Cache(gpu, arena, architecture, options, { moves, stream }));
      const span = cache.longRope ? 'long' : 'short';
      for (const [rope, table] of cache.tables)
        gpu.device.queue.writeBuffer(table.buffer, 0, ropeTable(rope, options.positions, divisors, span));
      cache.longRope?.fill(divisors);
      return cache;
    } catch (error) {
      arena.free();
      throw error;
    }
  }

  private constructor(
    gpu: Gpu,
    arena: Arena,
    architecture: Architecture,
    options: CacheOptions,
    { moves, stream }: Shared,
  ) {
    const { sizes, blocks } = architecture;
    const { keyValueHeads, paddedHead, hidden, layers, vocabulary } = sizes;
    this.#gpu = gpu;
    this.#arena = arena;
    this.#architecture = architecture;
    this.options = options;
    this.attend = attentionOf(attentionTuning(gpu));
    this.slots = cacheSlots(options);
    const ring = ringSlots(architecture, options);
    this.ring = ring === null ? null : new WindowRing(ring, largestWindow(architecture) as number);
    const scratch = cacheScratch(architecture, options, attentionTuning(gpu));
    this.tokens = scratch.tokens > 0 ? { ...arena.storage(scratch.tokens, 'tokens'), shape: [this.slots, 1] } : null;
    const recurrent = blocks.some(({ mixer }) => mixer.kind === 'delta-net');
    this.states = recurrent ? new RecurrentStates(gpu, arena, architecture, options.forks.count) : null;
    this.layers = blocks.map(({ mixer }, i): LayerCache => {
      const [first, second, third] = layerBuffers(architecture, i, options) as [number, number, number];
      if (mixer.kind === 'attention')
        return { keys: arena.storage(first, `${i}.keys`), values: arena.storage(second, `${i}.values`) };
      const channels = mixer.kind === 'delta-net' ? deltaChannels(mixer.shape) : hidden;
      const perSlot = (bytes: number, name: string, words: number): Tensor => {
        const tensor = arena.storage(bytes, `${i}.${name}`);
        return { ...tensor, shape: [this.slots, words] };
      };
      const inputs = perSlot(first, 'inputs', keptWords(channels, isHalf(options.precision)));
      if (mixer.kind === 'convolution') return { inputs };
      const states = { ...arena.storage(third, `${i}.states`), bytes: third };
      this.states?.add(states, mixer.shape);
      return { inputs, rows: perSlot(second, 'rows', deltaWords(mixer.shape)), states };
    });
    this.tables = new Map(ropesOf(architecture).map((r, i) => [r, arena.storage(scratch.ropes[i] as number, 'rope')]));
    const tap = (rows: number, layer: number): Tensor => arena.activation(rows, hidden, `tap ${layer}`);
    const { slots, tables } = this;
    const { positions, nodes } = options;
    const limit = longRopeLimit(architecture);
    this.longRope =
      limit !== null && positions > limit ? new LongRope(gpu, arena, limit, { slots, positions, tables }) : null;
    const most = nodes > MOST_ROWS ? MOST_NODES : MOST_ROWS;
    this.wide =
      nodes > MOST_ROWS || this.longRope
        ? {
            logits: arena.activation(most, vocabulary, 'wide logits'),
            taps: options.tapLayers.map((layer) => tap(most, layer)),
          }
        : null;
    // Rollouts and two sets of RoPE factors are made for passes that may also score trees.
    const special = options.rollout || this.longRope;
    this.promptRows = options.prompts && positions > MOST_ROWS && !special ? PROMPT_ROWS : MOST_ROWS;
    this.taps = options.tapLayers.map((layer) => (layer === layers - 1 ? stream : tap(this.promptRows, layer)));
    const bodies: readonly number[] = this.promptRows > MOST_ROWS ? [...BUCKETS, this.promptRows] : BUCKETS;
    this.bodies = new Map(bodies.map((rows) => [rows, new Plan(gpu)]));
    this.attention = arena.storage(scratch.attention, 'attention');
    this.attentionRows = attentionRows(architecture, this.slots, attentionTuning(gpu));
    this.rolloutState = options.rollout ? new RolloutState(arena, options.rollout, architecture, this.slots) : null;
    this.pool = options.pool ? new Pool(gpu, arena, this.slots, hidden) : null;
    this.#moves = moves;
    this.#compaction = new Plan(gpu);
    const shape = { count: MOVES, keyValueHeads, ...unitsOf(paddedHead, options.precision) };
    for (const [i, layer] of this.layers.entries())
      if ('keys' in layer) compact(this.#compaction, { ...layer, moves }, { ...shape, ring: this.ringOf(i) });
    const stores = this.layers.flatMap((layer) => ('inputs' in layer ? [layer.inputs] : []));
    stores.push(...this.layers.flatMap((layer) => ('rows' in layer ? [layer.rows] : [])));
    for (const store of [...stores, this.rolloutState?.tensor, this.pool?.tensor, this.tokens])
      if (store) moveRows(this.#compaction, { store, moves }, { count: MOVES, width: store.shape.at(-1) as number });
  }

  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Slots that a layer of attention keeps: slot s lies at s modulo this. */
  ringOf(layer: number): number {
    const mixer = this.#architecture.blocks[layer]?.mixer;
    return (mixer?.kind === 'attention' && mixer.window !== null && this.ring?.slots) || this.slots;
  }

  /** After a body: keeps the tokens of its rows, if they may be needed again. */
  recordTokens(plan: Plan, rows: Tensor, count: number): void {
    if (!this.tokens) return;
    keepTokens(plan, { rows, tokenRing: tokenRingOf(this.#gpu).tensor, tokens: this.tokens }, { rows: count });
  }

  /** Rows of a past that have to be computed anew before rows that follow it. `span`: see LongRope. */
  stale(past: Past, span: Span | null): readonly RowsAnew[] {
    const rows = this.ring?.stale(past) ?? [];
    return rows.length > 0 || !span ? rows : (this.longRope?.stale(past, span) ?? []);
  }

  /** A pass has computed the rows of these slots. */
  wrote(first: number, count: number): void {
    this.longRope?.wrote(first, count);
    this.ring?.wrote(first, count);
  }

  async ready(): Promise<void> {
    await Promise.all([this.pool, this.states, this.#compaction, ...this.bodies.values()].map((plan) => plan?.ready()));
  }

  /** Moves rows in every layer, in order. */
  move(moves: readonly Move[]): void {
    for (let i = 0; i < moves.length; i += MOVES) {
      this.#gpu.submission.upload(this.#moves, packMoves(moves.slice(i, i + MOVES), MOVES));
      this.compact();
    }
    this.longRope?.moved(moves);
    this.ring?.moved(moves);
  }

  /** Makes the moves in the model's list. */
  compact(): void {
    this.#gpu.submission.run(this.#compaction, { keys: this.slots });
  }

  free(): void {
    this.pool?.free();
    this.states?.free();
    this.#compaction.destroy();
    for (const plan of this.bodies.values()) plan.destroy();
    this.#arena.free();
  }
}
