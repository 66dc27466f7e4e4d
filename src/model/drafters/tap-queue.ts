// A target's taps on their way into a drafter's context: rows wait in device memory and are fused sixteen at a time. As
// keys and values only (DFlash) that takes three dispatches and two for each layer; as the stream of a layer (EAGLE-3,
// MTP) it takes a pass, of which all but keys and values is left out for rows that no draft begins after.

import { MOST_ROWS } from '../../base/pass-rows.ts';
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { gatherRows } from '../../kernels/cache/gather-rows.ts';
import { gatherTaps } from '../../kernels/cache/gather-taps.ts';
import { BUCKETS, type Bucket, matmul } from '../../kernels/matmul/matmul.ts';
import { normTaps, normTapsTuning } from '../../kernels/norm/norm-taps.ts';
import { rmsNorm, rmsNormTuning } from '../../kernels/norm/rms-norm.ts';
import type { Features } from '../architecture.ts';
import { type Arena, rowsOf } from '../arena.ts';
import type { Cache } from '../cache/kv-cache.ts';
import { type Network, recordBody, recordKeys } from '../forward/interpreter.ts';
import { DeviceRows } from '../forward/pass.ts';
import type { Scratch } from '../forward/scratch.ts';
import type { Forward } from '../interface.ts';
import type { FeatureWeights } from '../load/device-weights.ts';

type FeatureScratch = NonNullable<Scratch['features']>;

const TAPS = 'Open the target with the tapLayers of its drafter.';

/**
 * A drafter's place at its target: what it taps, and the final norm of the target. The authors' code reads the last
 * layer's output after that norm, so a tap of the last layer is normed here.
 */
export interface Tapped {
  readonly layers: readonly number[];
  /** The place of the target's last layer among them; -1: it is not tapped, or before the norm. */
  readonly last: number;
  readonly finalNorm: Tensor;
  readonly epsilon: number;
}

/** The taps of the waiting rows side by side, with every norm that comes before the projection. */
const recordTaps = (plan: Plan, network: Network, tapped: Tapped, waiting: Tensor, bucket: Bucket): Tensor => {
  const { gpu, architecture, weights, scratch } = network;
  const { hidden: width } = architecture.sizes;
  const { epsilon } = architecture.norm;
  const { count: taps, tapNorms } = architecture.input.features as Features;
  const { gathered, normedTaps } = scratch.features as FeatureScratch;
  let [input, output] = [rowsOf(gathered, bucket), rowsOf(normedTaps, bucket)];
  const swap = (): void => {
    [input, output] = [output, input];
  };
  gatherTaps(plan, { input: waiting, output: input }, { rows: bucket, taps, width, most: MOST_ROWS });
  const shape = { rows: bucket, taps, width };
  if (tapped.last >= 0) {
    const own = { ...shape, first: tapped.last, normed: 1, epsilon: tapped.epsilon };
    normTaps(plan, { input, weight: tapped.finalNorm, output }, own, normTapsTuning(gpu));
    swap();
  }
  const weight = weights.features?.tapNorm;
  if (weight && tapNorms === 'each') {
    normTaps(plan, { input, weight, output }, { ...shape, first: 0, normed: taps, epsilon }, normTapsTuning(gpu));
    swap();
  }
  if (weight && tapNorms === 'together') {
    rmsNorm(plan, { input, weight, output }, { rows: bucket, width: taps * width, epsilon }, rmsNormTuning(gpu));
    swap();
  }
  return input;
};

/** Projects the waiting rows: into `fused`, normed, or into the stream. Where they are joined they only go there. */
const recordFuse = (plan: Plan, network: Network, tapped: Tapped, waiting: Tensor, bucket: Bucket): void => {
  const { gpu, architecture, weights, scratch, tuning } = network;
  const { hidden: width } = architecture.sizes;
  const { as } = architecture.input.features as Features;
  const { fuse, norm } = weights.features as FeatureWeights;
  const { fused } = scratch.features as FeatureScratch;
  const output = rowsOf(as === 'keys' ? scratch.normed : scratch.stream, bucket);
  const input = recordTaps(plan, network, tapped, waiting, bucket);
  if (as === 'joined') {
    gatherRows(plan, { input, indices: scratch.everyIndex, output }, { rows: bucket, width });
    return;
  }
  matmul(plan, { input, matrix: fuse, output }, { rows: bucket, epilogue: 'store' }, tuning);
  if (as === 'keys')
    rmsNorm(
      plan,
      { input: output, weight: norm, output: rowsOf(fused, bucket) },
      { rows: bucket, width, epsilon: architecture.norm.epsilon },
      rmsNormTuning(gpu),
    );
};

const recordContext = (
  plan: Plan,
  network: Network,
  tapped: Tapped,
  cache: Cache,
  waiting: Tensor,
  bucket: Bucket,
  unscored = false,
): void => {
  const { blocks, input } = network.architecture;
  recordFuse(plan, network, tapped, waiting, bucket);
  if (input.features?.as !== 'keys') {
    recordBody(plan, network, cache, bucket, { unscored });
    return;
  }
  const { fused } = network.scratch.features as FeatureScratch;
  for (const layer of blocks.keys()) recordKeys(plan, network, cache, rowsOf(fused, bucket), { bucket, layer });
};

/** Rows of a target's taps on their way into a drafter's context. */
export class FeatureQueue {
  /** One for each number of rows: fuses what waits and appends it to the cache. */
  readonly plans: ReadonlyMap<Bucket, Plan>;
  /** The same for as many rows as can wait, where others follow them: no draft begins after these. */
  readonly unscored: ReadonlyMap<Bucket, Plan>;
  /** Rows that wait. */
  count = 0;
  readonly #gpu: Gpu;
  /** `[tap][16 rows][hidden]`: neighbouring rows of a tap are one copy. */
  readonly #waiting: Tensor;
  readonly #taps: readonly Tensor[];
  readonly #layers: readonly number[];

  constructor(network: Network, cache: Cache, arena: Arena, tapped: Tapped) {
    this.#gpu = network.gpu;
    const { layers } = tapped;
    this.#layers = layers;
    const { hidden } = network.architecture.sizes;
    this.#waiting = arena.activation(layers.length * MOST_ROWS, hidden, 'waiting taps');
    this.#taps = layers.map((_, i) => rowsOf(this.#waiting, MOST_ROWS, i * MOST_ROWS));
    this.plans = new Map(BUCKETS.map((bucket) => [bucket, new Plan(network.gpu)]));
    for (const [bucket, plan] of this.plans) recordContext(plan, network, tapped, cache, this.#waiting, bucket);
    const keysAnyway = network.architecture.input.features?.as === 'keys';
    this.unscored = keysAnyway ? this.plans : new Map([[MOST_ROWS, new Plan(network.gpu)]]);
    if (keysAnyway) return;
    for (const [bucket, plan] of this.unscored)
      recordContext(plan, network, tapped, cache, this.#waiting, bucket, true);
  }

  async ready(): Promise<void> {
    await Promise.all(this.#all.map((plan) => plan.ready()));
  }

  /** Copies rows of a pass after those that wait, in the open submission; there must be room. */
  put(pass: Pick<Forward, 'taps'>, rows: readonly number[]): void {
    const kept = pass.taps.filter((tap) => tap instanceof DeviceRows);
    const sources = this.#layers.map((layer) => {
      const tap = kept.find((one) => one.layer === layer);
      if (tap) return tap.tensor;
      const layers = kept.map((one) => one.layer).join(', ') || 'none';
      throw refuse(`the drafter reads layers ${this.#layers.join(', ')}; this pass keeps ${layers}`, TAPS);
    });
    const most = kept[0]?.rows ?? 0;
    for (const row of rows) if (!Number.isInteger(row) || row < 0 || row >= most) throw refuse(`row ${row} of ${most}`);
    for (let i = 0; i < rows.length; ) {
      const first = rows[i] as number;
      let length = 1;
      while (rows[i + length] === first + length) length++;
      for (const [tap, source] of sources.entries()) {
        const from = rowsOf(source, length, first);
        this.#gpu.submission.copy(from, rowsOf(this.#taps[tap] as Tensor, length, this.count));
      }
      this.count += length;
      i += length;
    }
  }

  free(): void {
    for (const plan of this.#all) plan.destroy();
  }

  get #all(): readonly Plan[] {
    return [...new Set([...this.plans.values(), ...this.unscored.values()])];
  }
}
