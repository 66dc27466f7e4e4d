// The most probable drafts of a pass, looked for in the drafter's own vocabulary: a reduced one is a few times smaller
// than its target's.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { CHOICE_WORDS, sampleTuning } from '../../kernels/sampling/sample.ts';
import { top } from '../../kernels/sampling/top.ts';
import { MOST_WIDTH } from '../../kernels/tree/grow-tree.ts';
import type { Arena } from '../arena.ts';
import type { Network } from '../forward/interpreter.ts';
import type { Choice } from '../interface.ts';
import { toChoices } from '../sampling/sampler.ts';

export class LikeliestDrafts {
  readonly #gpu: Gpu;
  readonly #vocabulary: number;
  readonly #output: Tensor;
  /** For 1, 2, … drafts. */
  readonly #plans: readonly Plan[];

  constructor({ gpu, architecture, scratch: { logits } }: Network, arena: Arena) {
    const { vocabulary } = architecture.sizes;
    this.#gpu = gpu;
    this.#vocabulary = vocabulary;
    const output = arena.storage(MOST_WIDTH * CHOICE_WORDS * 4, 'likeliest drafts');
    const row = arena.storage(4, 'first row'); // a zero
    this.#output = output;
    this.#plans = Array.from({ length: MOST_WIDTH }, (_, i) => {
      const plan = new Plan(gpu);
      top(plan, { logits, row, output }, { n: i + 1, vocabulary }, sampleTuning(gpu));
      return plan;
    });
  }

  async ready(): Promise<void> {
    await Promise.all(this.#plans.map((plan) => plan.ready()));
  }

  /** The `n` likeliest after row 0, by their entries of the drafter's vocabulary. A submit and a readback. */
  async read(n: number): Promise<readonly Choice[]> {
    const { submission } = this.#gpu;
    submission.run(this.#plans[n - 1] as Plan, { keys: 0 });
    const read = submission.read({ ...this.#output, bytes: n * CHOICE_WORDS * 4 });
    submission.submit();
    return toChoices(await read).filter(({ token }) => token < this.#vocabulary);
  }

  free(): void {
    for (const plan of this.#plans) plan.destroy();
  }
}
