// What the two kernels of ceilings.ts compute, so that neither can be fast by not doing its work.

/** The xor of all that the lanes saw is the xor of the whole buffer. */
export const xorOf = (words: Uint32Array): number => words.reduce((seen, word) => (seen ^ word) >>> 0, 0);

export const multiplyAddsReference = (repeats: number, factor: number, term: number): number => {
  const chains = Array.from({ length: 32 }, (_, i) => {
    let x = i;
    for (let n = 0; n < repeats; n++) x = x * factor + term;
    return x;
  });
  return chains.reduce((sum, x) => sum + x, 0);
};
