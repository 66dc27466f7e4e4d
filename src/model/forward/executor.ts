// Runs passes. Every pass of a language model, a drafter or a judge is one `run` of a description: it uploads the rows
// and replays a body and a head, all in the device's open submission.
import type { Gpu } from '../../gpu/device.ts';
import type { Live, Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import { branches, packRows, type Row } from '../../kernels/cache/rows.ts';
import { BUCKETS, type Bucket } from '../../kernels/matmul/matmul.ts';
import { type Arena, rowsOf } from '../arena.ts';
import { type Cache, MOVE_BYTES, type Shared } from '../cache/kv-cache.ts';
import type { Past } from '../cache/visibility.ts';
import { MOST_ROWS } from '../limits.ts';
import { Sampler } from '../sampling/sampler.ts';
import { Verifier } from '../sampling/verifier.ts';
import { DeviceTreeRows, type GrownTree } from './device-tree.ts';
import { type Network, outputsOf, recordBody, recordHead } from './interpreter.ts';
import { Pass, type PassTools } from './pass.ts';
import { windowsOf } from './scratch.ts';

/** Rows [first, first + count) of a pass, as blocks of this window see them. */
export type RowsOf = (window: number | null, first: number, count: number) => readonly Row[];

/** Where the rows of a pass come from. */
export type PassRows =
  /** The host knows them. */
  | { readonly from: 'host'; readonly count: number; readonly rows: RowsOf }
  /** They are the nodes of a tree that a drafter grew on the device, after `past`. */
  | { readonly from: 'tree'; readonly count: number; readonly tree: GrownTree; readonly past: Past }
  /** A kernel has written them; they see slots below `keys`. */
  | { readonly from: 'device'; readonly count: number; readonly keys: number }
  /** No body runs: the stream already holds the hidden states of so many rows. */
  | { readonly from: 'stream'; readonly count: number };

export interface PassDescription {
  readonly cache: Cache;
  readonly rows: PassRows;
  /** Which rows get logits. `last`: the last one alone, as row 0 of the results. More than 16 rows need `all`. */
  readonly logits: 'all' | 'last' | 'none';
  /** Replaces embedding and blocks: a drafter turns its target's taps into context with plans of its own. */
  readonly body?: ReadonlyMap<Bucket, Plan>;
}

export class Executor {
  /** Smallest pass: 1, or 4 on a device that is not batch invariant. */
  leastRows: 1 | 4 = 1;
  /** What the caches of this model have in common. */
  readonly shared: Shared;
  readonly #gpu: Gpu;
  readonly #network: Network;
  /** Null where nothing is drawn from the logits. */
  readonly #tools: PassTools | null;
  readonly #windows: readonly (number | null)[];
  /** Final norm and logits of every row, for each bucket. */
  readonly #heads = new Map<Bucket, Plan>();
  /** The same for one picked row; repeated, where the smallest pass has four. */
  readonly #picked = new Map<Bucket, Plan>();
  #pass: Pass | null = null;
  /** The submission before the last one: `submitted` keeps two in flight. */
  #inFlight: Promise<unknown> = Promise.resolve();

  /** `draws`: whether tokens are drawn from the logits and drafts verified by them; a judge's are only read. */
  constructor(network: Network, arena: Arena, { draws = true } = {}) {
    const { gpu, architecture, scratch } = network;
    this.#gpu = gpu;
    this.#network = network;
    this.#windows = windowsOf(architecture);
    this.shared = { moves: arena.storage(MOVE_BYTES, 'moves'), stream: scratch.stream };
    this.#tools = draws ? makeTools(network, arena, this.shared.moves, this.#windows) : null;
    for (const bucket of BUCKETS) this.#heads.set(bucket, this.#head(bucket, false));
    for (const bucket of [1, 4] as const) this.#picked.set(bucket, this.#head(bucket, true));
  }

  /** Compiles what does not depend on a cache. */
  async ready(): Promise<void> {
    const plans = [...this.#heads.values(), ...this.#picked.values()].map((plan) => plan.ready());
    await Promise.all([...plans, this.#tools?.treeRows.ready(), this.#prepare(this.#network.scratch.scores)]);
  }

  /** Memory for drafts that are drawn at random: where their distributions are kept, and those that verify them. */
  async keepDistributions(): Promise<void> {
    const { sampler, verifier } = this.#tools ?? {};
    await sampler?.keepDistributions();
    await verifier?.bindDistributions();
  }

  /** No cursor is open: frees what runs have taken since the load. */
  trim(): void {
    this.#tools?.verifier.trim();
    this.#tools?.sampler.trim();
  }

  async #prepare(logits: Tensor): Promise<void> {
    await Promise.all([this.#tools?.sampler.prepare(logits), this.#tools?.verifier.prepare(logits)]);
  }

  /** Records and compiles the bodies of a cache. */
  async attach(cache: Cache, layers?: readonly number[]): Promise<void> {
    for (const [bucket, plan] of cache.bodies) recordBody(plan, this.#network, cache, bucket, layers);
    await Promise.all([cache.ready(), cache.wide ? this.#prepare(cache.wide.logits) : null]);
  }

  detach(cache: Cache): void {
    if (cache.wide) {
      this.#tools?.sampler.forget(cache.wide.logits);
      this.#tools?.verifier.forget(cache.wide.logits);
    }
    this.#gpu.flush(); // commands that use a buffer must be submitted before it is destroyed
    cache.free();
  }

  /**
   * Records a pass, sixteen rows at a time; each group sees the keys of the groups before it. Draws from the previous
   * pass are recorded first, because this one overwrites its logits.
   */
  run({ cache, rows, logits, body = cache.bodies }: PassDescription): Pass {
    this.#pass?.end();
    if (rows.from === 'tree') this.#tools?.treeRows.load(rows.tree, rows.count);
    const wide = rows.count > MOST_ROWS ? cache.wide : null;
    const { scores } = this.#network.scratch;
    const { submission } = this.#gpu;
    for (let first = 0; first < rows.count; first += MOST_ROWS) {
      const count = Math.min(MOST_ROWS, rows.count - first);
      const bucket = this.#bucket(count);
      this.#runBody(body, rows, { first, count, bucket });
      this.#runHead(logits, count, bucket);
      if (!wide) continue;
      submission.copy(rowsOf(scores, count), rowsOf(wide.logits, count, first));
      wide.taps.forEach((tap, i) => {
        submission.copy(rowsOf(cache.taps[i] as Tensor, count), rowsOf(tap, count, first));
      });
    }
    const { hidden } = this.#network.architecture.sizes;
    this.#pass = new Pass(this.#gpu, this.#tools, {
      logits: wide?.logits ?? scores,
      taps: wide?.taps ?? cache.taps,
      tapLayers: cache.options.tapLayers,
      outputs: outputsOf(this.#network),
      hidden,
    });
    return this.#pass;
  }

  /**
   * Submits what was recorded and waits for the submission before it. With two chunks of a prompt in flight the device
   * stays busy, and an abort takes effect between them.
   */
  async submitted(): Promise<void> {
    this.#gpu.flush();
    const before = this.#inFlight;
    this.#inFlight = this.#gpu.device.queue.onSubmittedWorkDone();
    await before;
  }

  free(): void {
    this.#gpu.flush();
    for (const plan of [...this.#heads.values(), ...this.#picked.values()]) plan.destroy();
    const { sampler, verifier, treeRows } = this.#tools ?? {};
    for (const tool of [verifier, treeRows, sampler]) tool?.free(); // the sampler frees what the verifier binds
  }

  #head(bucket: Bucket, picked: boolean): Plan {
    const plan = new Plan(this.#gpu);
    recordHead(plan, this.#network, bucket, picked);
    return plan;
  }

  #bucket(rows: number): Bucket {
    return BUCKETS.find((size) => size >= Math.max(rows, this.leastRows)) as Bucket;
  }

  #runBody(plans: ReadonlyMap<Bucket, Plan>, rows: PassRows, group: Group): void {
    const { first, count, bucket } = group;
    let live: Live;
    if (rows.from === 'stream') return;
    if (rows.from === 'host') live = this.#upload(rows.rows, group);
    else if (rows.from === 'device') live = { keys: rows.keys };
    else {
      const next = rows.past.start + rows.past.own;
      this.#tools?.treeRows.fill(rows.past, group);
      live = { keys: next + first + count, branched: (next % CHUNK) + first + count > CHUNK };
    }
    this.#gpu.submission.run(plans.get(bucket) as Plan, live);
  }

  #upload(rowsOf: RowsOf, { first, count, bucket }: Group): Live {
    let keys = 0;
    let branched = false;
    this.#windows.forEach((window, w) => {
      const rows = rowsOf(window, first, count);
      for (const { slot } of rows) keys = Math.max(keys, slot + 1);
      branched ||= branches(rows);
      this.#gpu.submission.upload(this.#network.scratch.rows[w] as Tensor, packRows(rows, bucket));
    });
    return { keys, branched };
  }

  #runHead(logits: PassDescription['logits'], count: number, bucket: Bucket): void {
    const { submission } = this.#gpu;
    if (logits === 'all') submission.run(this.#heads.get(bucket) as Plan, { keys: 0 });
    if (logits !== 'last') return;
    const { pickedIndices } = this.#network.scratch;
    submission.upload(pickedIndices, new Uint32Array(this.leastRows).fill(count - 1));
    submission.run(this.#picked.get(this.leastRows) as Plan, { keys: 0 });
  }
}

/** At most 16 rows of a pass, and the number of rows that the plans were recorded for. */
interface Group {
  readonly first: number;
  readonly count: number;
  readonly bucket: Bucket;
}

const makeTools = (network: Network, arena: Arena, moves: Tensor, windows: readonly (number | null)[]): PassTools => {
  const { gpu, scratch } = network;
  const vocabulary = outputsOf(network);
  const sampler = new Sampler(gpu, arena, vocabulary);
  const verifier = new Verifier(gpu, arena, { vocabulary, distributions: sampler.distributions, moves });
  const { nodes } = verifier;
  const treeRows = new DeviceTreeRows(gpu, arena, { nodes, draws: sampler.draws, rows: scratch.rows, windows });
  return { sampler, verifier, treeRows };
};
