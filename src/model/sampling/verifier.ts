// Verification on the device: it decides which drafts the target keeps, and lists the moves that make their path
// contiguous. `verify-match` for deterministic drafts, `verify-ratio` for chains of sampled ones
// (kernels/verify/verify.ts).
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { sampleTuning } from '../../kernels/sampling/sample.ts';
import {
  type DraftNode,
  JOB_WORDS,
  type Job,
  NODE_WORDS,
  packJob,
  packNodes,
  unpackVerdict,
  verdictBytes,
} from '../../kernels/verify/verdict.ts';
import { verifyMatch, verifyRatio } from '../../kernels/verify/verify.ts';
import type { Arena } from '../arena.ts';
import type { Verdict } from '../interface.ts';
import { MOST_NODES } from '../limits.ts';
import type { DistributionRing } from './distributions.ts';
import { notFinite } from './sampler.ts';
import { tokenRingOf } from './token-ring.ts';

export class Verifier {
  readonly #gpu: Gpu;
  readonly #vocabulary: number;
  readonly #distributions: DistributionRing;
  readonly #job: Tensor;
  /** The draft to verify; a tree that the device grew is copied here. */
  readonly nodes: Tensor;
  readonly #verdict: Tensor;
  readonly #moves: Tensor;
  readonly #matches = new Map<GPUBuffer, Plan>();
  readonly #ratios = new Map<GPUBuffer, Plan>();

  /** `moves`: the list that the model's caches read. */
  constructor(
    gpu: Gpu,
    arena: Arena,
    { vocabulary, distributions, moves }: { vocabulary: number; distributions: DistributionRing; moves: Tensor },
  ) {
    this.#gpu = gpu;
    this.#vocabulary = vocabulary;
    this.#distributions = distributions;
    this.#moves = moves;
    this.#job = arena.storage(JOB_WORDS * 4, 'job');
    this.nodes = arena.storage(MOST_NODES * NODE_WORDS * 4, 'nodes');
    this.#verdict = arena.storage(verdictBytes(MOST_NODES), 'verdict');
  }

  get #tensors() {
    const tokenRing = tokenRingOf(this.#gpu).tensor;
    return { job: this.#job, nodes: this.nodes, tokenRing, verdict: this.#verdict, moves: this.#moves };
  }

  /** Lets go of the distributions. */
  trim(): void {
    for (const plan of this.#ratios.values()) plan.unbind();
    this.#distributions.letGo(this);
  }

  /** Compiles what reads these logits; what also reads distributions, once these have their memory. */
  async prepare(logits: Tensor): Promise<void> {
    const [match, ratio] = [new Plan(this.#gpu), new Plan(this.#gpu)];
    const distributions = this.#distributions.tensor;
    const stride = logits.shape.at(-1) as number;
    verifyMatch(match, { ...this.#tensors, logits }, { stride });
    verifyRatio(
      ratio,
      { ...this.#tensors, logits, targetDistributions: distributions, draftDistributions: distributions },
      { vocabulary: this.#vocabulary, stride },
      sampleTuning(this.#gpu),
    );
    this.#matches.set(logits.buffer, match);
    this.#ratios.set(logits.buffer, ratio);
    ratio.later();
    await Promise.all([match.ready(), this.#distributions.hasHolder(this) ? ratio.ready() : null]);
  }

  /** Memory for distributions, and what reads them. */
  async keepDistributions(): Promise<void> {
    await this.#distributions.hold(this);
    await Promise.all([...this.#ratios.values()].map((plan) => plan.ready()));
  }

  forget(logits: Tensor): void {
    for (const plans of [this.#matches, this.#ratios]) {
      plans.get(logits.buffer)?.destroy();
      plans.delete(logits.buffer);
    }
  }

  /**
   * Records the decision; `nodes`: null where they are on the device already; `rule`: ratio of the job's distributions,
   * or match; `limit`: how many nodes are considered, where only the device knows.
   */
  decide(
    job: Job,
    nodes: readonly DraftNode[] | null,
    logits: Tensor,
    { rule, limit }: { readonly rule: 'match' | 'ratio'; readonly limit: Tensor | null },
  ): void {
    const { submission } = this.#gpu;
    const plan = (rule === 'ratio' ? this.#ratios : this.#matches).get(logits.buffer);
    if (!plan) throw new Error('verification by logits that were not prepared');
    submission.upload(this.#job, packJob(job));
    const place = this.#job.offset + (JOB_WORDS - 1) * 4;
    if (limit) submission.copy({ ...limit, bytes: 4 }, { ...this.#job, offset: place, bytes: 4 });
    if (nodes) submission.upload(this.nodes, packNodes(nodes));
    submission.run(plan, { keys: 0 });
  }

  /** The round's one readback, in the open submission. */
  async read(nodes: number): Promise<Verdict> {
    const data = await this.#gpu.submission.read({ ...this.#verdict, bytes: verdictBytes(nodes) });
    const { broken, choices, ...verdict } = unpackVerdict(data, nodes);
    if (broken) throw notFinite();
    return {
      ...verdict,
      choices: choices.map(({ token, logit, logSumExp }) => ({ token, logprob: logit - logSumExp })),
    };
  }

  free(): void {
    for (const plans of [this.#matches, this.#ratios]) {
      for (const plan of plans.values()) plan.destroy();
      plans.clear();
    }
    this.#distributions.letGo(this);
  }
}
