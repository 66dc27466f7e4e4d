// Independent randomness for drafts. A token is drawn by noise keyed (seed, position, token). Drawn with the target's
// own seed, a draft would share the target's noise, and "keep with probability p/q" would no longer be exact.
import type { Sampling } from '../../model/interface.ts';

/** 2³² / golden ratio: changes about half of a seed's bits. */
const SEED_OFFSET = 0x9e3779b9;
/** 2³² / √2, as far from the others. */
const STEP_OFFSET = 0xb504f333;

export const draftSampling = (sampling: Sampling): Sampling => ({
  ...sampling,
  seed: (sampling.seed ^ SEED_OFFSET) >>> 0,
});

/** Each member of an ensemble draws with noise of its own, for the same reason. */
export const memberSampling = (sampling: Sampling, member: number): Sampling => ({
  ...sampling,
  seed: (sampling.seed ^ Math.imul(SEED_OFFSET, 2 * member + 1)) >>> 0,
});

/** The same for steps that a router may refuse: what writes them anew may draft with the model that wrote them. */
export const stepSampling = (sampling: Sampling): Sampling => ({
  ...sampling,
  seed: (sampling.seed ^ STEP_OFFSET) >>> 0,
});

/** `count` independent draws from the same prefix; the first is drawn as if it were the only one. */
export const candidateSamplings = (sampling: Sampling, count: number): readonly Sampling[] =>
  Array.from({ length: count }, (_, i) => ({ ...sampling, seed: (sampling.seed ^ Math.imul(i, 0x85ebca6b)) >>> 0 }));

/** The most probable token instead of a drawn one. */
export const greedySampling = (sampling: Sampling): Sampling => ({ ...sampling, temperature: 0 });

/** A number from 0 to 1 that the seed and a step's place in the text determine; mixed as MurmurHash3 ends. */
export const chanceAt = (seed: number, position: number): number => {
  let x = (seed ^ Math.imul(position + 1, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};
