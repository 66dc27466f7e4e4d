// Ensembles on the device: rows of raw logits are kept after their passes, and chains of drafts are verified under the
// combined distribution. All members' passes, the kept rows and the verdict are recorded into one open submission, so a
// round is one submit and one readback.

import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import {
  chainEnd,
  contrast,
  slicesOf,
  softmaxStatistics,
  verifyEnsemble,
} from '../../kernels/ensemble/ensemble-kernels.ts';
import {
  chainEndBytes,
  ensembleVerdictBytes,
  jobBytes,
  MOST_PENDING,
  packEnsembleJob,
  statisticsBytes,
  unpackEnsembleVerdict,
} from '../../kernels/ensemble/ensemble-structs.ts';
import { sampleTuning } from '../../kernels/sampling/sample.ts';
import { Arena, rowsOf } from '../arena.ts';
import { DeviceRows } from '../forward/pass.ts';
import type {
  Choice,
  Combination,
  Ensemble,
  EnsembleChain,
  EnsembleVerdict,
  KeptRow,
  LanguageModel,
  OpenEnsemble,
  Sampling,
  Scores,
} from '../interface.ts';
import { Ring } from '../sampling/ring.ts';
import { notFinite } from '../sampling/sampler.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { checkChain, checkModels, draftingOf, sharesOf } from './combine-members.ts';
import { EnsembleTop } from './ensemble-top.ts';

/** Chains that the ring holds, so that rows kept in one round last through the next. */
const CHAINS = 2;

interface Plans {
  /** Computes the softmax statistics of all rows. */
  readonly statistics: Plan;
  /** Computes the verdict. */
  readonly decide: Plan;
}

class DeviceEnsemble implements Ensemble {
  readonly members: number;
  readonly #gpu: Gpu;
  readonly #arena: Arena;
  readonly #vocabulary: number;
  readonly #drafts: number;
  readonly #combination: Combination;
  readonly #shares: readonly number[];
  readonly #ring: Ring;
  /** The ring's rows, then one row for each position with the members' difference. */
  readonly #rows: Tensor;
  /** Index of the first row with a difference; null where nothing is contrasted. */
  readonly #contrasts: number | null;
  readonly #job: Tensor;
  readonly #statistics: Tensor;
  readonly #verdict: Tensor;
  /** By number of positions. */
  readonly #plans: readonly Plans[];
  #top: EnsembleTop | null = null;
  #disposed = false;

  constructor(gpu: Gpu, arena: Arena, models: readonly LanguageModel[], combination: Combination, drafts: number) {
    const [{ vocabulary }] = models as readonly [LanguageModel];
    const members = models.length;
    const positions = drafts + 1;
    const entries = CHAINS * members * positions;
    this.members = members;
    this.#gpu = gpu;
    this.#arena = arena;
    this.#vocabulary = vocabulary;
    this.#drafts = drafts;
    this.#shares = sharesOf(combination, members);
    this.#combination = combination;
    const contrasts = combination.kind === 'contrastive';
    this.#ring = new Ring(entries, 'kept row');
    this.#contrasts = contrasts ? entries : null;
    const distributions = this.#shares.length;
    const slices = slicesOf(vocabulary);
    this.#rows = arena.activation(entries + (contrasts ? positions : 0), vocabulary, 'kept rows');
    this.#job = arena.storage(jobBytes(positions, distributions), 'ensemble job');
    this.#statistics = arena.storage(statisticsBytes(positions, distributions), 'statistics');
    this.#verdict = arena.storage(ensembleVerdictBytes(positions, members, MOST_PENDING), 'ensemble verdict');
    const end = arena.storage(chainEndBytes(positions, slices), 'chain end');
    const stride = this.#rows.shape.at(-1) as number;
    const [job, logits, verdict] = [this.#job, this.#rows, this.#verdict];
    const tuning = sampleTuning(gpu);
    this.#plans = Array.from({ length: positions }, (_, i) => {
      const uniforms = { positions: i + 1, members, distributions, vocabulary, stride, slices };
      const [statistics, decide] = [new Plan(gpu), new Plan(gpu)];
      if (contrasts) contrast(statistics, { job, rows: logits }, uniforms);
      softmaxStatistics(statistics, { job, logits, statistics: this.#statistics }, uniforms, tuning);
      const inputs = { job, logits, statistics: this.#statistics, tokenRing: tokenRingOf(gpu).tensor, chainEnd: end };
      chainEnd(decide, inputs, uniforms, tuning);
      verifyEnsemble(decide, { ...inputs, verdict }, uniforms, tuning);
      return { statistics, decide };
    });
  }

  get bytes(): number {
    return this.#arena.bytes;
  }

  async ready(): Promise<void> {
    await Promise.all(this.#plans.flatMap(({ statistics, decide }) => [statistics.ready(), decide.ready()]));
  }

  keep({ logits }: Scores, first: number, count: number): readonly KeptRow[] {
    this.#use();
    if (!(logits instanceof DeviceRows)) throw refuse('rows that are not on this device');
    const { tensor } = logits;
    if (tensor.shape.at(-1) !== this.#rows.shape.at(-1)) throw refuse('rows of another vocabulary');
    if (![first, count].every((n) => Number.isInteger(n) && n >= 0) || first + count > logits.rows)
      throw refuse(`rows ${first} to ${first + count - 1} of a pass of ${logits.rows}`);
    return Array.from({ length: count }, (_, i) => {
      const kept = this.#ring.take(1);
      this.#gpu.submission.copy(rowsOf(tensor, 1, first + i), rowsOf(this.#rows, 1, this.#ring.entry(kept)));
      return { kept };
    });
  }

  submit(): void {
    this.#use();
    this.#gpu.flush();
  }

  drafting(sampling: Sampling): Sampling {
    return draftingOf(this.#combination, sampling);
  }

  async verify(chain: EnsembleChain, sampling: Sampling): Promise<EnsembleVerdict> {
    this.#use();
    this.#check(chain);
    const { tokens, rows, bonus, pending } = chain;
    const scored = bonus ? [...rows, bonus] : rows;
    const drafts = tokens.length;
    const positions = scored.length;
    const { decide } = this.#ask(chain, scored, sampling);
    const { submission } = this.#gpu;
    submission.run(decide, { keys: 0 });
    const bytes = ensembleVerdictBytes(positions, this.members, pending.length);
    const read = submission.read({ ...this.#verdict, bytes });
    this.#gpu.flush();
    const shape = { drafts, positions, members: this.members };
    const { broken, committed, votes, ...verdict } = unpackEnsembleVerdict(await read, shape);
    if (broken) throw notFinite();
    const choices = committed.map((token, i) => ({ token, logprob: Math.log((votes[i] as { r: number }).r) }));
    const last = verdict.kept < drafts ? 'corrected' : 'bonus';
    return { ...verdict, choices, votes, source: committed.length > verdict.kept ? last : null };
  }

  async top(
    positions: readonly (readonly KeptRow[])[],
    n: number,
    sampling: Sampling,
  ): Promise<readonly (readonly Choice[])[]> {
    this.#use();
    const top = this.#top ?? (await this.#makeTop());
    const chains = positions.map((bonus) => ({ tokens: [], proposers: [], rows: [], pending: [], position: 0, bonus }));
    for (const chain of chains) this.#check(chain);
    return top.read(positions.length, n, (i) => {
      this.#ask(chains[i] as EnsembleChain, positions.slice(i, i + 1), sampling);
    });
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#gpu.flush(); // commands that use a buffer must be submitted before it is destroyed
    this.#top?.free();
    for (const { statistics, decide } of this.#plans) for (const plan of [statistics, decide]) plan.destroy();
    this.#arena.free();
  }

  async #makeTop(): Promise<EnsembleTop> {
    const top = await EnsembleTop.make(this.#gpu, {
      job: this.#job,
      logits: this.#rows,
      statistics: this.#statistics,
      members: this.members,
      distributions: this.#shares.length,
      vocabulary: this.#vocabulary,
    });
    if (this.#disposed) top.free();
    this.#use();
    this.#top = top;
    return top;
  }

  /** Uploads the job and records the softmax statistics of its rows. */
  #ask({ tokens, position, proposers, pending }: EnsembleChain, scored: EnsembleChain['rows'], sampling: Sampling) {
    const tokenRing = tokenRingOf(this.#gpu);
    const contrasts = this.#contrasts;
    const rows = scored.map((each, i) => {
      const own = each.map(({ kept }) => this.#ring.entry(kept));
      return contrasts === null ? own : [...own, contrasts + i, own[proposers[i] ?? 0] as number];
    });
    const distributionOf = (i: number): number => (contrasts === null ? (proposers[i] as number) : this.members + 1);
    // Naming a token records its draw, which must come before the job that reads it.
    const drafts = tokens.map((token, i) => ({ ...tokenRing.name(token), distribution: distributionOf(i) }));
    const others = pending.map((token) => tokenRing.name(token).ringEntry);
    const job = { drafts, rows, pending: others, position, sampling, shares: this.#shares };
    const mu = this.#combination.kind === 'contrastive' ? this.#combination.mu : 0;
    const { submission } = this.#gpu;
    submission.upload(this.#job, packEnsembleJob({ ...job, mu, drafting: this.drafting(sampling).temperature }));
    const plans = this.#plans[rows.length - 1] as Plans;
    submission.run(plans.statistics, { keys: 0 });
    return plans;
  }

  #check(chain: EnsembleChain): void {
    checkChain(chain, { members: this.members, drafts: this.#drafts, vocabulary: this.#vocabulary });
  }

  #use(): void {
    if (this.#disposed) throw refuse('this ensemble was disposed');
  }
}

/** `models`: on this device. */
export const joinModels = async (
  gpu: Gpu,
  models: readonly LanguageModel[],
  combination: Combination,
  { drafts = 15 }: OpenEnsemble = {},
): Promise<Ensemble> => {
  checkModels(models, drafts);
  const arena = new Arena(gpu);
  const what = `an ensemble of ${models.length} models`;
  const ensemble = await gpu.allocating(what, () => new DeviceEnsemble(gpu, arena, models, combination, drafts));
  try {
    await ensemble.ready();
    return ensemble;
  } catch (error) {
    ensemble[Symbol.dispose]();
    throw error;
  }
};
