// Independent randomness for drafts. A draft is drawn like any token, by noise keyed (seed, position, token); had it the
// target's seed, it would be drawn by the target's own noise, and "accept with p/q" would no longer be exact.
import type { Sampling } from '../../model/interface.ts';

/** 2³² / golden ratio: differs from every seed in half of its bits. */
const APART = 0x9e3779b9;

export const draftSampling = (sampling: Sampling): Sampling => ({ ...sampling, seed: (sampling.seed ^ APART) >>> 0 });

/** Each member of an ensemble draws with noise of its own, for the same reason. */
export const memberSampling = (sampling: Sampling, member: number): Sampling => ({
  ...sampling,
  seed: (sampling.seed ^ Math.imul(APART, 2 * member + 1)) >>> 0,
});

/** The most probable token instead of a drawn one. */
export const greedily = (sampling: Sampling): Sampling => ({ ...sampling, temperature: 0 });

/** A number from 0 to 1 that a seed and a step's place in the text determine: mixed as in MurmurHash3's end. */
export const chanceAt = (seed: number, position: number): number => {
  let x = (seed ^ Math.imul(position + 1, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};
