// The most probable tokens under an ensemble's combined law. Few answers ask for them, so the memory and the plans are
// made when the first one does.
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import { Plan } from '../gpu/plan.ts';
import { mix } from '../kernels/ensemble.ts';
import { CHOICE_WORDS, sampleTuning } from '../kernels/sample.ts';
import { top } from '../kernels/top.ts';
import { Arena } from './arena.ts';
import type { Choice } from './model.ts';
import { MOST_TOP, toChoices } from './sampler.ts';

interface Inputs {
  readonly job: Tensor;
  readonly logits: Tensor;
  readonly gauges: Tensor;
  readonly members: number;
  readonly columns: number;
  readonly vocabulary: number;
}

export class EnsembleTop {
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #vocabulary: number;
  readonly #output: Tensor;
  readonly #plan: Plan;

  private constructor(gpu: Gpu, { members, columns, vocabulary, ...tensors }: Inputs) {
    this.#gpu = gpu;
    this.#arena = new Arena(gpu);
    this.#vocabulary = vocabulary;
    const mixed = this.#arena.activation(1, vocabulary, 'mixed');
    const row = this.#arena.storage(16, 'top row');
    this.#output = this.#arena.storage(MOST_TOP * CHOICE_WORDS * 4, 'top');
    this.#plan = new Plan(gpu);
    const stride = tensors.logits.shape.at(-1) as number;
    mix(this.#plan, { ...tensors, mixed }, { positions: 1, members, columns, vocabulary, stride, slices: 1 });
    top(this.#plan, { logits: mixed, row, output: this.#output }, { n: MOST_TOP, vocabulary }, sampleTuning(gpu));
  }

  static async make(gpu: Gpu, inputs: Inputs): Promise<EnsembleTop> {
    const top = new EnsembleTop(gpu, inputs);
    await top.#plan.ready();
    return top;
  }

  /** Of the position whose gauges have been recorded. */
  async read(n: number): Promise<readonly Choice[]> {
    if (n < 1 || n > MOST_TOP)
      throw new OutriderError('bad-request', `the ${n} most probable tokens; 1 to ${MOST_TOP} can be had`);
    const { turn } = this.#gpu;
    turn.run(this.#plan, { keys: 0 });
    const read = turn.read({ ...this.#output, bytes: n * CHOICE_WORDS * 4 });
    this.#gpu.flush();
    return toChoices(await read).filter(({ token }) => token < this.#vocabulary);
  }

  free(): void {
    this.#plan.destroy();
    this.#arena.free();
  }
}
