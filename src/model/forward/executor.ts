// Runs passes. Every pass of a language model, a drafter or a judge is one `run` of a description: it uploads the rows
// and replays a body and a head, all in the device's open submission.
import { MOST_ROWS, PROMPT_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Live, Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import type { Submission } from '../../gpu/submission.ts';
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import { branches, packRows, ROW_WORDS } from '../../kernels/cache/rows.ts';
import { BUCKETS, type Bucket } from '../../kernels/matmul/matmul.ts';
import { type Arena, rowsOf } from '../arena.ts';
import { type Cache, MOVE_BYTES, type Shared } from '../cache/kv-cache.ts';
import type { Past } from '../cache/visibility.ts';
import { treeRows } from '../cache/visibility.ts';
import type { TextRules } from '../interface.ts';
import { AdjustedText } from '../sampling/adjusted-text.ts';
import { Sampler } from '../sampling/sampler.ts';
import { Verifier } from '../sampling/verifier.ts';
import { DeviceTreeRows } from './device-tree.ts';
import { type Network, outputsOf, recordBody, recordHead, recordSpread } from './interpreter.ts';
import { Pass, type PassTools } from './pass.ts';
import type { PassRows, RowsOf } from './pass-rows.ts';
import type { Span } from './rope-table.ts';
import { windowsOf } from './scratch.ts';
import { spanRuns } from './span-runs.ts';

/** The sequences that the rows of a pass go on from. */
const pastsOf = (rows: PassRows): readonly Past[] => {
  if (rows.from === 'tree') return [rows.past];
  return rows.from === 'host' ? (rows.trees ?? []).map(({ past }) => past) : [];
};

export interface PassDescription {
  readonly cache: Cache;
  readonly rows: PassRows;
  /**
   * Which rows get logits. `unspread`: all, but those of a reduced head stay as they are, in `scratch.logits` alone, so
   * the pass draws nothing. `last`: the last one alone, as row 0 of the results. `none`: passes may have the cache's
   * `promptRows`.
   */
  readonly logits: 'all' | 'unspread' | 'last' | 'none';
  /** Replaces embedding and blocks: a drafter turns its target's taps into context with plans of its own. */
  readonly body?: ReadonlyMap<number, Plan>;
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
  /** What follows the head of a reduced vocabulary; empty elsewhere. */
  readonly #spreads = new Map<Bucket, Plan>();
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
    for (const bucket of BUCKETS) {
      this.#heads.set(bucket, this.#head(bucket, false));
      const spread = new Plan(gpu);
      recordSpread(spread, network, bucket);
      this.#spreads.set(bucket, spread);
    }
    for (const bucket of [1, 4] as const) this.#picked.set(bucket, this.#head(bucket, true));
  }

  /** Compiles what does not depend on a cache. */
  async ready(): Promise<void> {
    await Promise.all([
      ...this.#plans.map((plan) => plan.ready()),
      this.#tools?.treeRows.ready(),
      this.#prepare(this.#network.scratch.scores),
    ]);
  }

  /** Memory for drafts that are drawn at random: where their distributions are kept, and those that verify them. */
  async keepDistributions(): Promise<void> {
    const { sampler, verifier } = this.#tools ?? {};
    await sampler?.keepDistributions();
    await verifier?.keepDistributions();
  }

  /** Rules for the logits that passes over this cache leave. */
  async adjusted(rules: TextRules, cache: Cache): Promise<AdjustedText> {
    const { scores } = this.#network.scratch;
    const { nodes } = (this.#tools as PassTools).verifier;
    const logits = cache.wide ? [scores, cache.wide.logits] : [scores];
    const room = Math.min(cache.options.positions, outputsOf(this.#network));
    return AdjustedText.open(this.#gpu, { rules, room, nodes, logits });
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
    for (const [bucket, plan] of cache.bodies) recordBody(plan, this.#network, cache, bucket, { layers });
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
   * Records a pass, sixteen rows at a time if all are scored; each group sees the keys of the groups before it. Draws
   * from the previous pass are recorded first, because this one overwrites its logits.
   */
  run({ cache, rows, logits, body = cache.bodies }: PassDescription): Pass {
    this.#pass?.end();
    if (rows.from === 'tree') this.#tools?.treeRows.load(rows.tree, rows.count);
    const runs = spanRuns(cache.longRope, rows);
    const most = logits === 'none' ? cache.promptRows : MOST_ROWS;
    const wide = rows.count > most || runs.length > 1 ? cache.wide : null;
    const { scores } = this.#network.scratch;
    for (const { span, rows: own, trees, serves } of runs) {
      if (span) cache.longRope?.select(span);
      for (const { past, sources } of trees) this.#renew(cache, past, span, sources);
      for (let first = 0; first < rows.count; first += most) {
        const count = Math.min(most, rows.count - first);
        const bucket = this.#bucket(count);
        if (first === 0) cache.states?.advance(pastsOf(rows));
        else cache.states?.hold();
        this.#runBody(body, own, { first, count, bucket });
        this.#runHead(logits, count, bucket);
        if (!wide) continue;
        const taps = wide.taps.map((tap, i) => [cache.taps[i] as Tensor, tap] as const);
        const results = [[scores, wide.logits] as const, ...taps];
        const { submission } = this.#gpu; // another one, if rows were computed anew
        if (runs.length === 1) copyRows(submission, results, 0, first, count);
        else
          for (let row = 0; row < count; row++)
            if (serves(first + row)) copyRows(submission, results, row, first + row, 1);
      }
      for (const { past, count } of trees) cache.wrote(past.start + past.own, count);
    }
    const { hidden } = this.#network.architecture.sizes;
    this.#pass = new Pass(this.#gpu, logits === 'unspread' ? null : this.#tools, {
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
    this.#inFlight = this.#gpu.idle();
    await before;
    if (this.#gpu.failure) throw this.#gpu.failure;
  }

  free(): void {
    this.#gpu.flush();
    for (const plan of this.#plans) plan.destroy();
    const { sampler, verifier, treeRows } = this.#tools ?? {};
    for (const tool of [verifier, treeRows, sampler]) tool?.free(); // the sampler frees what the verifier binds
  }

  get #plans(): readonly Plan[] {
    return [this.#heads, this.#spreads, this.#picked].flatMap((plans) => [...plans.values()]);
  }

  #head(bucket: Bucket, picked: boolean): Plan {
    const plan = new Plan(this.#gpu);
    recordHead(plan, this.#network, bucket, picked);
    if (picked) recordSpread(plan, this.#network, bucket);
    return plan;
  }

  #bucket(rows: number): number {
    return BUCKETS.find((size) => size >= Math.max(rows, this.leastRows)) ?? PROMPT_ROWS;
  }

  #runBody(plans: ReadonlyMap<number, Plan>, rows: PassRows, group: Group): void {
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

  /** Rows of this past that a window sees and its ring has lost are computed anew. */
  renew(cache: Cache, past: Past): void {
    this.#renew(cache, past, null);
  }

  /** Computes what the cache calls stale anew, from the tokens that it has kept. */
  #renew(cache: Cache, past: Past, span: Span | null, sources?: number): void {
    for (const { past: before, count } of cache.stale(past, span)) {
      const tokens = Array.from({ length: count }, () => ({ token: 0, ringEntry: 0 }));
      const tree = { tokens, parents: tokens.map((_, i) => i - 1) };
      const rows: RowsOf = (window) => treeRows(before, tree, window, 0, count, sources);
      const bucket = this.#bucket(count);
      const live = this.#upload(rows, { first: 0, count, bucket });
      const first = before.start + before.own;
      for (let row = 0; row < count; row++) this.#restoreToken(cache.tokens as Tensor, first + row, row);
      this.#gpu.submission.run(cache.bodies.get(bucket) as Plan, live);
      this.#gpu.flush(); // a long past would not fit one submission
      cache.wrote(first, count);
    }
  }

  /** Only the embedding reads tokens, and it reads the first list of rows. */
  #restoreToken(tokens: Tensor, slot: number, row: number): void {
    const [list] = this.#network.scratch.rows as readonly [Tensor];
    const at = row * ROW_WORDS * 4; // a row begins with its token
    this.#gpu.submission.copy(
      { ...tokens, offset: slot * 4, bytes: 4 },
      { ...list, offset: list.offset + at, bytes: 4 },
    );
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

  #runHead(logits: PassDescription['logits'], count: number, bucket: number): void {
    const { submission } = this.#gpu;
    if (logits === 'all' || logits === 'unspread')
      submission.run(this.#heads.get(bucket as Bucket) as Plan, { keys: 0 });
    if (logits === 'all') submission.run(this.#spreads.get(bucket as Bucket) as Plan, { keys: 0 });
    if (logits !== 'last') return;
    const { pickedIndices } = this.#network.scratch;
    submission.upload(pickedIndices, new Uint32Array(this.leastRows).fill(count - 1));
    submission.run(this.#picked.get(this.leastRows) as Plan, { keys: 0 });
  }
}

/** Copies rows of what a pass has left to where they outlive it. */
const copyRows = (
  submission: Submission,
  results: readonly (readonly [from: Tensor, to: Tensor])[],
  from: number,
  to: number,
  count: number,
): void => {
  for (const [source, target] of results) submission.copy(rowsOf(source, count, from), rowsOf(target, count, to));
};

/** Rows that are computed together, and the number of rows that the plans were recorded for. */
interface Group {
  readonly first: number;
  readonly count: number;
  readonly bucket: number;
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
