// Rounds of sampled chains on the device: draft, distributions, target's draws and verification in one submission, from
// fixed logits.
import type { Gpu } from '../../gpu/device.ts';
import { Plan } from '../../gpu/plan.ts';
import { distribution } from '../../kernels/sampling/distribution.ts';
import { CHOICE_WORDS, DRAW_WORDS, type Draw, packDraws, sample } from '../../kernels/sampling/sample.ts';
import {
  MOST_NODES,
  NODE_WORDS,
  packJob,
  packNodes,
  type RawVerdict,
  unpackVerdict,
  verdictBytes,
} from '../../kernels/verify/verdict.ts';
import { verifyRatio } from '../../kernels/verify/verify.ts';
import { noise, strided, tensorOf } from '../device/run-kernel.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
const STRIDE = 32;
/**
 * A device that drafts a chain, keeps the distributions and verifies, in one submission, from the same two sets of
 * logits each time.
 */
export const chains = async (gpu: Gpu, draft: readonly number[][], target: readonly number[][], threads: number) => {
  const vocabulary = target[0]?.length ?? 0;
  const count = target.length;
  const words = (length: number) => tensorOf(gpu, new Uint32Array(length));
  const tokenRing = words(64 * CHOICE_WORDS);
  const draws = { draft: words(64 * DRAW_WORDS), target: words(64 * DRAW_WORDS) };
  const distributions = tensorOf(gpu, new Float32Array(64 * STRIDE));
  const logits = {
    draft: tensorOf(gpu, strided(draft, STRIDE)),
    target: tensorOf(gpu, strided(target, STRIDE)),
  };
  const [job, nodes] = [words(16), words(NODE_WORDS * count)];
  const [verdict, moves] = [words(verdictBytes(count) / 4), words(2 * MOST_NODES)];
  const plan = new Plan(gpu);
  const tuning = { threads };
  for (const who of ['draft', 'target'] as const) {
    const uniforms = { rows: who === 'draft' ? count - 1 : count, vocabulary, stride: STRIDE };
    sample(plan, { logits: logits[who], draws: draws[who], choices: tokenRing }, uniforms, tuning);
    distribution(plan, { logits: logits[who], draws: draws[who], distributions }, uniforms, tuning);
  }
  // The kernel binds the distributions twice, for reading.
  const tensors = {
    job,
    nodes,
    tokenRing,
    logits: logits.target,
    targetDistributions: distributions,
    draftDistributions: distributions,
    verdict,
    moves,
  };
  verifyRatio(plan, tensors, { vocabulary, stride: STRIDE }, tuning);
  await plan.ready();
  return (filters: Omit<Draw, 'row' | 'entry' | 'distribution'>): Promise<RawVerdict> => {
    const { submission } = gpu;
    const { position, seed } = filters;
    const drafts = list(count - 1, (i) => ({
      ...filters,
      row: i,
      position: position + i + 1,
      entry: i,
      distribution: i,
    }));
    const own = list(count, (i) => ({
      ...filters,
      row: i,
      position: position + i + 1,
      entry: 20 + i,
      distribution: 20 + i,
    }));
    submission.upload(draws.draft, packDraws(drafts.map((each) => ({ ...each, seed: seed ^ 0x9e3779b9 }))));
    submission.upload(draws.target, packDraws(own));
    submission.upload(job, packJob({ nodes: count, draws: 20, base: 0, position, seed, row: 0, distribution: 20 }));
    submission.upload(
      nodes,
      packNodes(list(count, (i) => ({ token: 3, ringEntry: i, parent: i - 1, distribution: i - 1 }))),
    );
    submission.run(plan, { keys: 0 });
    return submission.read(verdict).then((data) => unpackVerdict(data, count));
  };
};

export const logitRows = (seed: number, count: number, vocabulary: number): number[][] => {
  const random = noise(seed);
  return list(count, () => list(vocabulary, () => Math.fround(1.5 * random())));
};
