// The most probable tokens under an ensemble's combined distribution. Few answers ask for them, so memory and plans are
// made at the first request.
import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { combinedLogits } from '../../kernels/ensemble/ensemble-kernels.ts';
import { sampleTuning } from '../../kernels/sampling/sample.ts';
import { top } from '../../kernels/sampling/top.ts';
import { Arena } from '../arena.ts';
import type { Choice } from '../interface.ts';
import { MOST_TOP, Tops } from '../sampling/sampler.ts';

interface Inputs {
  readonly job: Tensor;
  readonly logits: Tensor;
  readonly statistics: Tensor;
  readonly members: number;
  readonly distributions: number;
  readonly vocabulary: number;
}

export class EnsembleTop {
  readonly #arena: Arena;
  readonly #vocabulary: number;
  readonly #tops: Tops;
  readonly #plan: Plan;

  private constructor(gpu: Gpu, arena: Arena, { members, distributions, vocabulary, ...tensors }: Inputs) {
    this.#arena = arena;
    this.#vocabulary = vocabulary;
    const mixed = this.#arena.activation(1, vocabulary, 'mixed');
    const row = this.#arena.storage(16, 'top row');
    this.#tops = new Tops(gpu, this.#arena);
    this.#plan = new Plan(gpu);
    const stride = tensors.logits.shape.at(-1) as number;
    combinedLogits(
      this.#plan,
      { ...tensors, mixed },
      { positions: 1, members, distributions, vocabulary, stride, slices: 1 },
    );
    top(this.#plan, { logits: mixed, row, output: this.#tops.output }, { n: MOST_TOP, vocabulary }, sampleTuning(gpu));
  }

  static async make(gpu: Gpu, inputs: Inputs): Promise<EnsembleTop> {
    const arena = new Arena(gpu);
    const what = "an ensemble's most probable tokens";
    const top = await gpu.allocating(what, () => new EnsembleTop(gpu, arena, inputs));
    try {
      await top.#plan.ready();
      return top;
    } catch (error) {
      top.free();
      throw error;
    }
  }

  /** `ask` records the statistics of position i. */
  async read(count: number, n: number, ask: (i: number) => void): Promise<readonly (readonly Choice[])[]> {
    if (n < 1 || n > MOST_TOP) throw refuse(`the ${n} most probable tokens; 1 to ${MOST_TOP} can be had`);
    return this.#tops.read(count, n, this.#vocabulary, (i, submission) => {
      ask(i);
      submission.run(this.#plan, { keys: 0 });
    });
  }

  free(): void {
    this.#plan.destroy();
    this.#tops.trim();
    this.#arena.free();
  }
}
