// The results of one forward pass on the device: logits and taps to read, and tokens to draw. Draws are collected and
// recorded together at the first read, so a round stays one submit and one readback. The model's next pass reuses the
// memory: draws made before it survive, values that were not read by then are lost.
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Submission } from '../../gpu/submission.ts';
import type { DraftNode } from '../../kernels/verify/verdict.ts';
import { rowsOf } from '../arena.ts';
import type { Cache } from '../cache/kv-cache.ts';
import type { Choice, DeviceDistribution, DeviceTensor, DeviceToken, Drawn, Sampling, Verdict } from '../interface.ts';
import { MOST_DISTRIBUTIONS } from '../limits.ts';
import type { AdjustedRows, AdjustedText } from '../sampling/adjusted-text.ts';
import { MOST_DRAWS, type Sampler, type Wanted } from '../sampling/sampler.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import type { Verifier } from '../sampling/verifier.ts';
import type { DeviceTreeRows } from './device-tree.ts';

/** Row-major values without the padding of each row. */
export const unpad = (data: ArrayBuffer, rows: number, width: number): Float32Array<ArrayBuffer> => {
  const stride = data.byteLength / 4 / rows;
  const padded = new Float32Array(data);
  if (stride === width) return padded;
  const out = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) out.set(padded.subarray(row * stride, row * stride + width), row * width);
  return out;
};

/** Rows of a pass on the device. A drafter takes them as they are; `read` brings them to the host. */
export class DeviceRows implements DeviceTensor {
  readonly rows: number;
  /** The tapped layer; null for logits. */
  readonly layer: number | null;
  readonly #gpu: Gpu;
  readonly #tensor: Tensor;
  readonly #width: number;
  readonly #use: () => void;

  /** `use` throws when the memory has been reused. */
  constructor(gpu: Gpu, tensor: Tensor, width: number, layer: number | null, use: () => void) {
    this.rows = tensor.shape[0] as number;
    this.layer = layer;
    this.#gpu = gpu;
    this.#tensor = tensor;
    this.#width = width;
    this.#use = use;
  }

  get tensor(): Tensor {
    this.#use();
    return this.#tensor;
  }

  async read(): Promise<Float32Array> {
    const { submission } = this.#gpu;
    const data = submission.read(this.tensor);
    submission.submit();
    return unpad(await data, this.rows, this.#width);
  }
}

/** Draws that reach the device in one dispatch and the host in one readback. */
class Batch {
  readonly wanted: Wanted[] = [];
  readonly #gpu: Gpu;
  readonly #sampler: Sampler;
  readonly #logits: Tensor;
  #first: number | null = null;
  #read: { readonly choices: Promise<readonly Choice[]>; readonly submission: Submission } | null = null;

  constructor(gpu: Gpu, sampler: Sampler, logits: Tensor) {
    this.#gpu = gpu;
    this.#sampler = sampler;
    this.#logits = logits;
  }

  get recorded(): boolean {
    return this.#first !== null;
  }

  /** Records the draws, if they are not yet; the serial number of the first one's entry on the token ring. */
  record(): number {
    this.#first ??= this.#sampler.draw(this.#logits, this.wanted);
    return this.#first;
  }

  read(): Promise<readonly Choice[]> {
    const first = this.record();
    this.#read ??= { choices: this.#sampler.read(first, this.wanted.length), submission: this.#gpu.submission };
    this.#gpu.flush(this.#read.submission);
    return this.#read.choices;
  }
}

/** One draw of a batch. */
class DeviceDraw implements Drawn, DeviceToken {
  readonly rows = 1;
  readonly distribution: DeviceDistribution | null;
  readonly #batch: Batch;
  readonly #index: number;

  constructor(batch: Batch, wanted: Wanted) {
    this.#batch = batch;
    this.#index = batch.wanted.push(wanted) - 1;
    this.distribution = wanted.distribution;
  }

  get token(): DeviceToken {
    return this;
  }

  /** Records the whole batch. */
  record(): number {
    return this.#batch.record() + this.#index;
  }

  async read(): Promise<readonly Choice[]> {
    return [(await this.#batch.read())[this.#index] as Choice];
  }
}

/** Where a pass has left its results. */
interface Results {
  readonly logits: Tensor;
  readonly taps: readonly Tensor[];
  readonly tapLayers: readonly number[];
  /** Logits of a row. */
  readonly outputs: number;
  readonly hidden: number;
}

/** A draft to verify. */
export interface DraftRows {
  /** Row of node 0. */
  readonly first: number;
  /** Slot of node 0. */
  readonly base: number;
  /** Absolute, of node 0. */
  readonly position: number;
  readonly count: number;
  /** With the position of each; null = the device knows. */
  readonly nodes: readonly (DraftNode & { readonly position: number })[] | null;
  readonly sampling: Sampling;
  /** Of sampled drafts, which are a chain that the host knows. */
  readonly distributions: readonly DeviceDistribution[] | null;
  /** How many nodes are considered, where only the device knows. */
  readonly limit: Tensor | null;
}

/** What the passes of a model share to draw tokens from their logits and to verify drafts. */
export interface PassTools {
  readonly sampler: Sampler;
  readonly verifier: Verifier;
  readonly treeRows: DeviceTreeRows;
}

export class Pass {
  readonly #gpu: Gpu;
  readonly #tools: PassTools | null;
  readonly #results: Results;
  #batch: Batch | null = null;
  #over = false;

  /** `tools`: null where the logits are only read. */
  constructor(gpu: Gpu, tools: PassTools | null, results: Results) {
    this.#gpu = gpu;
    this.#tools = tools;
    this.#results = results;
  }

  logits(first: number, count: number): DeviceTensor {
    const { logits, outputs } = this.#results;
    return this.view(rowsOf(logits, count, first), outputs);
  }

  taps(first: number, count: number): readonly DeviceRows[] {
    const { taps, hidden, tapLayers } = this.#results;
    return taps.map((tap, i) => this.view(rowsOf(tap, count, first), hidden, tapLayers[i] as number));
  }

  /** Changes the logits by the rules of a text. */
  adjust(text: AdjustedText, rows: AdjustedRows): void {
    text.adjust(this.#results.logits, rows);
  }

  draw(row: number, sampling: Sampling, position: number, keepDistribution = false): Drawn {
    this.#use();
    const { sampler } = this.#need();
    const wanted = this.#batch?.wanted ?? [];
    const most = keepDistribution || wanted.some(({ distribution }) => distribution) ? MOST_DISTRIBUTIONS : MOST_DRAWS;
    if (this.#batch?.recorded || wanted.length >= most) this.#recordDraws();
    this.#batch ??= new Batch(this.#gpu, sampler, this.#results.logits);
    const distribution = keepDistribution ? { distribution: sampler.distributions.ring.take(1) } : null;
    return new DeviceDraw(this.#batch, { row, sampling, position, distribution });
  }

  /** Draws by itself, among these tokens: a submit and a readback of its own. */
  drawAllowed(row: number, sampling: Sampling, position: number, allowed: Uint32Array): Promise<Choice> {
    this.#use();
    this.#recordDraws();
    const wanted = { row, sampling, position, distribution: null };
    return this.#need().sampler.drawAllowed(this.#results.logits, wanted, allowed);
  }

  /** Decides which nodes the target keeps, moves their rows in the cache, and reads the verdict. */
  verify(draft: DraftRows, cache: Cache): Promise<Verdict> {
    this.#use();
    const { sampler, verifier, treeRows } = this.#need();
    this.#recordDraws();
    const { first, base, position, count, nodes, sampling, distributions, limit } = draft;
    const { ring } = sampler.distributions;
    const distribution = distributions && ring.take(count);
    const wanted = Array.from({ length: count }, (_, i) => ({
      row: first + i,
      sampling,
      position: nodes?.[i] ? nodes[i].position + 1 : 0,
      distribution: distribution === null ? null : { distribution: distribution + i },
    }));
    const { logits } = this.#results;
    const serial = sampler.draw(logits, wanted, nodes ? undefined : () => treeRows.placeDraws());
    const draws = tokenRingOf(this.#gpu).ring.entry(serial);
    const job = { nodes: count, draws, base, position, seed: sampling.seed, row: first };
    if (distributions && nodes && distribution !== null) {
      const drafted = nodes.map((node, i) => ({
        ...node,
        distribution: i > 0 ? ring.entry((distributions[i - 1] as DeviceDistribution).distribution) : 0,
      }));
      verifier.decide({ ...job, distribution: ring.entry(distribution) }, drafted, logits, { rule: 'ratio', limit });
    } else verifier.decide(job, nodes, logits, { rule: 'match', limit });
    const chain = nodes?.every(({ parent }, i) => parent === i - 1);
    if (!chain) cache.compact(); // a kept chain lies where it belongs
    const verdict = verifier.read(count);
    this.#gpu.flush();
    return verdict;
  }

  async top(rows: readonly number[], n: number): Promise<readonly (readonly Choice[])[]> {
    this.#use();
    return this.#need().sampler.top(this.#results.logits, rows, n);
  }

  /** The model is about to reuse the memory. */
  end(): void {
    this.#recordDraws();
    this.#over = true;
  }

  /** Draws made later form another batch. */
  #recordDraws(): void {
    this.#batch?.record();
    this.#batch = null;
  }

  #need(): PassTools {
    if (!this.#tools) throw new Error('a draw from logits that are only read');
    return this.#tools;
  }

  /** Rows of memory that this pass has written. */
  view(tensor: Tensor, width: number, layer: number | null = null): DeviceRows {
    return new DeviceRows(this.#gpu, tensor, width, layer, () => this.#use());
  }

  #use(): void {
    if (this.#over)
      throw refuse(
        'this forward pass is over: a later pass of the same model has reused its memory',
        'Read logits and taps, and draw tokens, before the next pass.',
      );
  }
}
