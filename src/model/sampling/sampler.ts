// Draws tokens and finds the most probable ones on the device: the kernels are recorded for a few sizes, for every
// logits tensor. Drawn tokens go to the device's token ring, where a later pass finds them without the host.
import type { OutriderError } from '../../base/errors.ts';
import { bad, refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import type { Submission } from '../../gpu/submission.ts';
import { distribution } from '../../kernels/sampling/distribution.ts';
import { allowedWords, drawAllowed } from '../../kernels/sampling/draw-allowed.ts';
import {
  CHOICE_WORDS,
  DRAW_WORDS,
  packDraws,
  type RawChoice,
  sample,
  sampleTuning,
  unpackChoices,
} from '../../kernels/sampling/sample.ts';
import { top } from '../../kernels/sampling/top.ts';
import { Arena, rowsOf } from '../arena.ts';
import type { Choice, DeviceDistribution, Sampling } from '../interface.ts';
import { MOST_DISTRIBUTIONS } from '../limits.ts';
import { DistributionRing } from './distributions.ts';
import { type TokenRing, tokenRingOf } from './token-ring.ts';

/** Draws that one dispatch can make. */
export const MOST_DRAWS = 64;
/** A dispatch draws one of these counts: the next larger one, with its last draw repeated. */
const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, MOST_DRAWS] as const;
const DISTRIBUTIONS = COUNTS.filter((count) => count <= MOST_DISTRIBUTIONS);
/** Alternatives of one row: what APIs offer as `top_logprobs`. */
export const MOST_TOP = 20;
/** Rows whose alternatives are read together: those of the longest path that a verdict keeps. */
const MOST_TOPS = 64;
const TOPS = [1, 2, 5, MOST_TOP] as const;

export interface Wanted {
  readonly row: number;
  readonly sampling: Sampling;
  /** Absolute, of the token to be drawn. */
  readonly position: number;
  /** Where to keep the distribution that it is drawn from; null: nowhere. */
  readonly distribution: DeviceDistribution | null;
}

interface Plans {
  readonly draw: ReadonlyMap<number, Plan>;
  /** Reads the draws that `draw` has made. */
  readonly distribution: ReadonlyMap<number, Plan>;
  readonly top: ReadonlyMap<number, Plan>;
}

export class Sampler {
  readonly #gpu: Gpu;
  readonly #vocabulary: number;
  readonly #tokenRing: TokenRing;
  readonly distributions: DistributionRing;
  /** As they were uploaded last. */
  readonly draws: Tensor;
  readonly #row: Tensor;
  readonly #tops: Tops;
  readonly #plans = new Map<GPUBuffer, Plans>();
  /** Of draws among allowed tokens: empty until the first one, because most runs have no constraint. */
  readonly #allowedArena: Arena;
  #allowed: Tensor | null = null;
  readonly #allowedPlans = new Map<GPUBuffer, Plan>();

  constructor(gpu: Gpu, arena: Arena, vocabulary: number) {
    this.#gpu = gpu;
    this.#allowedArena = new Arena(gpu);
    this.#vocabulary = vocabulary;
    this.#tokenRing = tokenRingOf(gpu);
    this.distributions = DistributionRing.acquire(gpu, vocabulary);
    this.draws = arena.storage(MOST_DRAWS * DRAW_WORDS * 4, 'draws');
    this.#row = arena.storage(16, 'top row');
    this.#tops = new Tops(gpu, arena);
  }

  /** Records the plans that read these logits. Those of distributions are compiled when these get their memory. */
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
      sample(
        plan,
        { logits, draws: this.draws, choices: this.#tokenRing.tensor },
        { rows, vocabulary, stride },
        tuning,
      ),
    );
    const distributions = plans(DISTRIBUTIONS, (plan, rows) =>
      distribution(
        plan,
        { logits, draws: this.draws, distributions: this.distributions.tensor },
        { rows, vocabulary, stride },
        tuning,
      ),
    );
    const most = plans(TOPS, (plan, n) =>
      top(plan, { logits, row: this.#row, output: this.#tops.output }, { n, vocabulary }, tuning),
    );
    this.#plans.set(logits.buffer, { draw, distribution: distributions, top: most });
    const kept = this.distributions.hasHolder(this) ? [...distributions.values()] : [];
    for (const plan of distributions.values()) plan.later();
    await Promise.all([...draw.values(), ...most.values(), ...kept].map((plan) => plan.ready()));
  }

  /** Memory for distributions, and what writes them. */
  async keepDistributions(): Promise<void> {
    await this.distributions.hold(this);
    await Promise.all(this.#distributionPlans.map((plan) => plan.ready()));
  }

  /** Frees what runs have taken since the load. */
  trim(): void {
    for (const plan of this.#distributionPlans) plan.unbind();
    this.distributions.letGo(this);
    this.#tops.trim();
    this.#freeAllowed();
  }

  get #distributionPlans(): readonly Plan[] {
    return [...this.#plans.values()].flatMap(({ distribution }) => [...distribution.values()]);
  }

  forget(logits: Tensor): void {
    const plans = this.#plans.get(logits.buffer);
    if (plans) destroy(plans);
    this.#plans.delete(logits.buffer);
    this.#allowedPlans.get(logits.buffer)?.destroy();
    this.#allowedPlans.delete(logits.buffer);
  }

  /**
   * Records the draws into the open submission; draw i becomes entry first + i of the token ring, where `first` is
   * returned. `adjust` may change the draws on the device.
   */
  draw(logits: Tensor, wanted: readonly Wanted[], adjust?: () => void): number {
    const count = COUNTS.find((size) => size >= wanted.length);
    const plan = count && this.#plans.get(logits.buffer)?.draw.get(count);
    if (!plan) throw new Error(`${wanted.length} draws from logits that were not prepared`);
    const first = this.#tokenRing.ring.take(count);
    const draws = Array.from({ length: count }, (_, i) => {
      const { row, sampling, position, distribution } = wanted[Math.min(i, wanted.length - 1)] as Wanted;
      const kept =
        distribution && i < wanted.length
          ? { distribution: this.distributions.ring.entry(distribution.distribution) }
          : {};
      return { ...sampling, ...kept, row, position, entry: this.#tokenRing.ring.entry(first + i) };
    });
    const keeps = wanted.some(({ distribution }) => distribution);
    if (keeps && !this.distributions.hasHolder(this))
      throw refuse('distributions are to be kept, and have no memory', 'Await keepDistributions of the model first.');
    const { submission } = this.#gpu;
    submission.upload(this.draws, packDraws(draws));
    adjust?.();
    submission.run(plan, { keys: 0 });
    if (keeps) submission.run(this.#distributionPlan(logits, count), { keys: 0 });
    return first;
  }

  /** One draw among these tokens, submitted and read by itself. */
  async drawAllowed(logits: Tensor, { row, sampling, position }: Wanted, allowed: Uint32Array): Promise<Choice> {
    const plan = this.#allowedPlans.get(logits.buffer) ?? (await this.#prepareAllowed(logits));
    const words = allowedWords(this.#vocabulary);
    if (allowed.length !== words) throw refuse(`a set of allowed tokens has ${words} words, not ${allowed.length}`);
    const first = this.#tokenRing.ring.take(1);
    const { submission } = this.#gpu;
    submission.upload(
      this.draws,
      packDraws([{ ...sampling, row, position, entry: this.#tokenRing.ring.entry(first) }]),
    );
    submission.upload(this.#allowed as Tensor, allowed);
    submission.run(plan, { keys: 0 });
    const read = this.read(first, 1);
    submission.submit();
    return (await read)[0] as Choice;
  }

  async #prepareAllowed(logits: Tensor): Promise<Plan> {
    this.#allowed ??= await this.#gpu.allocating('the set of allowed tokens', () =>
      this.#allowedArena.storage(allowedWords(this.#vocabulary) * 4, 'allowed tokens'),
    );
    const plan = new Plan(this.#gpu);
    const tensors = { logits, draws: this.draws, allowed: this.#allowed, choices: this.#tokenRing.tensor };
    const stride = logits.shape.at(-1) as number;
    drawAllowed(plan, tensors, { rows: 1, vocabulary: this.#vocabulary, stride }, sampleTuning(this.#gpu));
    this.#allowedPlans.set(logits.buffer, await plan.ready());
    return plan;
  }

  #distributionPlan(logits: Tensor, count: number): Plan {
    const plan = this.#plans.get(logits.buffer)?.distribution.get(count);
    if (!plan) throw new Error(`distributions of ${count} draws; the most is ${DISTRIBUTIONS.at(-1)}`);
    return plan;
  }

  /** Records the readback of neighbouring entries of the token ring into the open submission. */
  read(first: number, count: number): Promise<readonly Choice[]> {
    const choices = this.#gpu.submission.read(this.#tokenRing.region(first, count)).then(toChoices);
    choices.catch(() => {}); // a draw that is read rejects; one that is never read must not count as unhandled
    return choices;
  }

  /** A submit and a readback for all rows. */
  async top(logits: Tensor, rows: readonly number[], n: number): Promise<readonly (readonly Choice[])[]> {
    const size = TOPS.find((known) => known >= n);
    if (!size || n < 1) throw refuse(`the ${n} most probable tokens; 1 to ${MOST_TOP} can be had`);
    const plan = this.#plans.get(logits.buffer)?.top.get(size);
    if (!plan) throw new Error('the most probable of logits that were not prepared');
    return this.#tops.read(rows.length, n, this.#vocabulary, (i, submission) => {
      submission.upload(this.#row, Uint32Array.of(rows[i] as number, 0, 0, 0));
      submission.run(plan, { keys: 0 });
    });
  }

  free(): void {
    for (const plans of this.#plans.values()) destroy(plans);
    this.#plans.clear();
    this.distributions.letGo(this);
    this.#tops.trim();
    this.#freeAllowed();
    DistributionRing.release(this.#gpu, this.#vocabulary);
  }

  #freeAllowed(): void {
    for (const plan of this.#allowedPlans.values()) plan.destroy();
    this.#allowedPlans.clear();
    this.#allowedArena.free();
    this.#allowed = null;
  }
}

/** Collects the answers of `top` row by row, until all are read together. */
export class Tops {
  readonly output: Tensor;
  readonly #gpu: Gpu;
  /** Empty until the first use, because most runs never ask for alternatives. */
  readonly #own: Arena;
  #kept: Tensor | null = null;

  constructor(gpu: Gpu, arena: Arena) {
    this.#gpu = gpu;
    this.#own = new Arena(gpu);
    this.output = arena.storage(MOST_TOP * CHOICE_WORDS * 4, 'top');
  }

  /** `record` writes answer i into the output. It gets the submission, as another may be open since the call. */
  async read(count: number, n: number, vocabulary: number, record: (i: number, submission: Submission) => void) {
    const bytes = n * CHOICE_WORDS * 4;
    const store = this.#kept ?? (await this.#allocate());
    const { submission } = this.#gpu;
    const kept = Array.from({ length: count }, (_, i) => {
      record(i, submission);
      const answer = { ...rowsOf(store, 1, i), bytes };
      submission.copy({ ...this.output, bytes }, answer);
      return answer;
    });
    const read = submission.readAll(kept);
    submission.submit();
    const choices = toChoices(await read);
    return kept.map((_, i) => choices.slice(i * n, (i + 1) * n).filter(({ token }) => token < vocabulary));
  }

  async #allocate(): Promise<Tensor> {
    this.#kept = await this.#gpu.allocating('the most probable tokens', () =>
      this.#own.activation(MOST_TOPS, MOST_TOP * CHOICE_WORDS, 'tops'),
    );
    return this.#kept;
  }

  /** Frees what `read` has taken. */
  trim(): void {
    this.#own.free();
    this.#kept = null;
  }
}

const destroy = (plans: Plans): void => {
  for (const plan of Object.values(plans).flatMap((sizes: Plans['draw']) => [...sizes.values()])) plan.destroy();
};

export const toChoices = (data: ArrayBuffer): readonly Choice[] => unpackChoices(data).map(toChoice);

export const toChoice = ({ token, logit, logSumExp, broken }: RawChoice): Choice => {
  if (broken) throw notFinite();
  return { token, logprob: logit - logSumExp };
};

export const notFinite = (): OutriderError =>
  bad(
    'the logits (final norm · head) hold a NaN or an infinity',
    'The weights are damaged, or overflow at this precision: load with f32.',
  );
