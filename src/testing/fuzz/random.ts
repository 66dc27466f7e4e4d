// Seeded random numbers for fuzz tests (mulberry32): a failure repeats with the seed that the test prints.

/** A whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

export const random = (seed: number): Random => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};

export const pick = <T>(list: readonly T[], below: Random): T => list[below(list.length)] as T;
