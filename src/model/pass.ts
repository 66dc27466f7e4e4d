// What one forward pass left on the device: logits and taps that can be read, and tokens that can be drawn. Draws are
// collected and reach the device together, at the first read: a round stays one submit and one readback. The next pass
// of the model reuses the memory; draws made before it survive, values that were not read by then do not.
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import type { Turn } from '../gpu/turn.ts';
import { rowsOf } from './arena.ts';
import type { Choice, Drawn, Held, Sampling } from './model.ts';
import { MOST_DRAWS, type Sampler, type Wanted } from './sampler.ts';

/** Row-major values with the padding of each row cut off. */
export const unpad = (data: ArrayBuffer, rows: number, width: number): Float32Array<ArrayBuffer> => {
  const stride = data.byteLength / 4 / rows;
  const padded = new Float32Array(data);
  if (stride === width) return padded;
  const out = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) out.set(padded.subarray(row * stride, row * stride + width), row * width);
  return out;
};

interface Batch {
  readonly wanted: Wanted[];
  turn: Turn | null;
  choices: Promise<readonly Choice[]> | null;
}

interface Results {
  readonly logits: Tensor;
  readonly taps: readonly Tensor[];
  readonly vocabulary: number;
  readonly hidden: number;
}

export class Pass {
  readonly #gpu: Gpu;
  readonly #sampler: Sampler;
  readonly #results: Results;
  #batch: Batch = { wanted: [], turn: null, choices: null };
  #over = false;

  constructor(gpu: Gpu, sampler: Sampler, results: Results) {
    this.#gpu = gpu;
    this.#sampler = sampler;
    this.#results = results;
  }

  logits(first: number, count: number): Held {
    return this.#held(this.#results.logits, first, count, this.#results.vocabulary);
  }

  taps(first: number, count: number): readonly Held[] {
    return this.#results.taps.map((tap) => this.#held(tap, first, count, this.#results.hidden));
  }

  draw(row: number, sampling: Sampling, position: number): Drawn {
    this.#use();
    if (this.#batch.choices || this.#batch.wanted.length === MOST_DRAWS) {
      this.#record(this.#batch);
      this.#batch = { wanted: [], turn: null, choices: null };
    }
    const batch = this.#batch;
    const index = batch.wanted.push({ row, sampling, position }) - 1;
    return {
      rows: 1,
      read: async () => {
        this.#record(batch);
        this.#gpu.flush(batch.turn);
        return [(await batch.choices)?.[index] as Choice];
      },
    };
  }

  async top(row: number, n: number): Promise<readonly Choice[]> {
    this.#use();
    return this.#sampler.top(this.#results.logits, row, n);
  }

  /** The model is about to reuse the memory. */
  end(): void {
    if (this.#batch.wanted.length > 0) this.#record(this.#batch);
    this.#over = true;
  }

  #held(tensor: Tensor, first: number, count: number, width: number): Held {
    return {
      rows: count,
      read: async () => {
        this.#use();
        const { turn } = this.#gpu;
        const data = turn.read(rowsOf(tensor, count, first));
        turn.submit();
        return unpad(await data, count, width);
      },
    };
  }

  #record(batch: Batch): void {
    if (batch.choices) return;
    batch.turn = this.#gpu.turn;
    batch.choices = this.#sampler.draw(this.#results.logits, batch.wanted);
  }

  #use(): void {
    if (this.#over)
      throw new OutriderError(
        'bad-request',
        'this forward pass is over: a later pass of the same model has reused its memory',
        'Read logits and taps, and draw tokens, before the next pass.',
      );
  }
}
