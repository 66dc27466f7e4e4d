// Draws and most probable tokens on the device: the two kernels recorded for a few sizes, for every logits tensor that
// they serve.
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import { Plan } from '../gpu/plan.ts';
import { CHOICE_WORDS, DRAW_WORDS, packDraws, sample, sampleTuning, unpackChoices } from '../kernels/sample.ts';
import { top } from '../kernels/top.ts';
import type { Arena } from './arena.ts';
import type { Choice, Sampling } from './model.ts';

/** Draws that one dispatch can make. */
export const MOST_DRAWS = 64;
const COUNTS = [1, 2, 4, 8, 16, MOST_DRAWS] as const;
/** Alternatives of one row: what APIs offer as `top_logprobs`. */
const MOST_TOP = 20;
const TOPS = [1, 5, MOST_TOP] as const;

export interface Wanted {
  readonly row: number;
  readonly sampling: Sampling;
  /** Absolute, of the token to be drawn. */
  readonly position: number;
}

interface Plans {
  readonly draw: ReadonlyMap<number, Plan>;
  readonly top: ReadonlyMap<number, Plan>;
}

export class Sampler {
  readonly #gpu: Gpu;
  readonly #vocabulary: number;
  readonly #draws: Tensor;
  readonly #choices: Tensor;
  readonly #row: Tensor;
  readonly #plans = new Map<GPUBuffer, Plans>();

  constructor(gpu: Gpu, arena: Arena, vocabulary: number) {
    this.#gpu = gpu;
    this.#vocabulary = vocabulary;
    this.#draws = arena.storage(MOST_DRAWS * DRAW_WORDS * 4, 'draws');
    this.#choices = arena.storage(MOST_DRAWS * CHOICE_WORDS * 4, 'choices');
    this.#row = arena.storage(16, 'top row');
  }

  /** Records the plans that read these logits. */
  async prepare(logits: Tensor): Promise<void> {
    const vocabulary = this.#vocabulary;
    const stride = logits.shape.at(-1) as number;
    const tuning = sampleTuning(this.#gpu);
    const plans = (sizes: readonly number[], record: (plan: Plan, size: number) => void): Map<number, Plan> =>
      new Map(
        sizes.map((size) => {
          const plan = new Plan(this.#gpu);
          record(plan, size);
          return [size, plan];
        }),
      );
    const draw = plans(COUNTS, (plan, rows) =>
      sample(plan, { logits, draws: this.#draws, choices: this.#choices }, { rows, vocabulary, stride }, tuning),
    );
    const most = plans(TOPS, (plan, n) =>
      top(plan, { logits, row: this.#row, output: this.#choices }, { n, vocabulary }, tuning),
    );
    this.#plans.set(logits.buffer, { draw, top: most });
    await Promise.all([...draw.values(), ...most.values()].map((plan) => plan.ready()));
  }

  forget(logits: Tensor): void {
    const plans = this.#plans.get(logits.buffer);
    for (const plan of [...(plans?.draw.values() ?? []), ...(plans?.top.values() ?? [])]) plan.destroy();
    this.#plans.delete(logits.buffer);
  }

  /** Records the draws into the open turn. */
  draw(logits: Tensor, wanted: readonly Wanted[]): Promise<readonly Choice[]> {
    const count = COUNTS.find((size) => size >= wanted.length);
    const plan = count && this.#plans.get(logits.buffer)?.draw.get(count);
    if (!plan) throw new Error(`${wanted.length} draws from logits that were not prepared`);
    const draws = Array.from({ length: count }, (_, i) => {
      const { row, sampling, position } = wanted[Math.min(i, wanted.length - 1)] as Wanted;
      return { ...sampling, row, position };
    });
    const { turn } = this.#gpu;
    turn.upload(this.#draws, packDraws(draws));
    turn.run(plan, { keys: 0 });
    const read = turn.read({ ...this.#choices, bytes: wanted.length * CHOICE_WORDS * 4 });
    const choices = read.then(toChoices);
    choices.catch(() => {}); // whoever reads the draw sees the error; nobody has to
    return choices;
  }

  /** A submit and a readback of its own. */
  async top(logits: Tensor, row: number, n: number): Promise<readonly Choice[]> {
    const size = TOPS.find((known) => known >= n);
    if (!size || n < 1)
      throw new OutriderError('bad-request', `the ${n} most probable tokens; 1 to ${MOST_TOP} can be had`);
    const plan = this.#plans.get(logits.buffer)?.top.get(size);
    if (!plan) throw new Error('the most probable of logits that were not prepared');
    const { turn } = this.#gpu;
    turn.upload(this.#row, Uint32Array.of(row, 0, 0, 0));
    turn.run(plan, { keys: 0 });
    const read = turn.read({ ...this.#choices, bytes: n * CHOICE_WORDS * 4 });
    turn.submit();
    return toChoices(await read).filter(({ token }) => token < this.#vocabulary);
  }

  free(): void {
    for (const { draw, top: most } of this.#plans.values())
      for (const plan of [...draw.values(), ...most.values()]) plan.destroy();
    this.#plans.clear();
  }
}

const toChoices = (data: ArrayBuffer): readonly Choice[] =>
  unpackChoices(data).map(({ token, logit, logSumExp, broken }) => {
    if (broken) throw notFinite();
    return { token, logprob: logit - logSumExp };
  });

const notFinite = (): OutriderError =>
  new OutriderError(
    'bad-checkpoint',
    'the logits (final norm · head) hold a NaN or an infinity',
    'The weights are damaged, or overflow at this precision: load with f32.',
  );
