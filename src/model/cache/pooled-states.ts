// Hidden states of a cursor's rows, kept at the rows' slots after their passes, and their means over steps. A selector
// compares candidates by these means where there is no embedding model.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { keepRows, meanRows, ROW_SPAN } from '../../kernels/cache/kept-rows.ts';
import { type Arena, rowsOf } from '../arena.ts';

/** A run of slots in the shared past, and one of the cursor's own. */
export type Runs = readonly [Run, Run];

interface Run {
  readonly first: number;
  readonly count: number;
}

/** Means that one dispatch makes; a pass has no more rows, and so no more forks. */
const MOST_MEANS = 16;

export class Pool {
  /** `[slot][hidden]`: the stream after the last layer. */
  readonly tensor: Tensor;
  readonly hidden: number;
  readonly most = MOST_MEANS;
  readonly #gpu: Gpu;
  readonly #spans: Tensor;
  readonly #means: Tensor;
  readonly #mean: Plan;

  constructor(gpu: Gpu, arena: Arena, slots: number, hidden: number) {
    this.#gpu = gpu;
    this.hidden = hidden;
    this.tensor = arena.activation(slots, hidden, 'hidden states');
    this.#spans = arena.storage(MOST_MEANS * ROW_SPAN.words * 4, 'spans');
    this.#means = arena.activation(MOST_MEANS, hidden, 'means');
    this.#mean = new Plan(gpu);
    const stride = this.tensor.shape[1] as number;
    const tensors = { kept: this.tensor, spans: this.#spans, means: this.#means };
    meanRows(this.#mean, tensors, { spans: MOST_MEANS, stride });
  }

  /** After the last layer of a pass. */
  record(plan: Plan, stream: Tensor, rows: Tensor): void {
    const [count, stride] = stream.shape as [number, number];
    keepRows(plan, { input: stream, rows, kept: this.tensor }, { rows: count, stride });
  }

  /** Records the means of these rows; good until the next ones are recorded. */
  means(spans: readonly Runs[]): Tensor {
    const words = ROW_SPAN.pack(
      spans.map(([shared, own]) => ({ ...shared, further: own.first, more: own.count })),
      MOST_MEANS,
    );
    this.#gpu.submission.upload(this.#spans, words);
    this.#gpu.submission.run(this.#mean, { keys: 0 });
    return rowsOf(this.#means, spans.length);
  }

  async ready(): Promise<void> {
    await this.#mean.ready();
  }

  free(): void {
    this.#mean.destroy();
  }
}
