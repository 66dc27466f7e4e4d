// Which of several candidates speaks for all: the most central one. Its paper (SpecGuard, arXiv 2604.15244) takes the
// softmax of every row of cosine similarities and keeps the smallest diagonal entry; since a cosine with oneself is 1, that
// is the candidate with the largest sum of exp(cosine).

const cosine = (a: Float32Array, b: Float32Array): number => {
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
};

/** The first of those with the largest sum of exp(similarity) to all. */
const central = <T>(candidates: readonly T[], similarity: (a: T, b: T) => number): number => {
  const sums = candidates.map((one) => candidates.reduce((sum, other) => sum + Math.exp(similarity(one, other)), 0));
  return sums.indexOf(Math.max(...sums));
};

/** By embeddings of the candidates. */
export const mostCentral = (embeddings: readonly Float32Array[]): number => central(embeddings, cosine);

/** By the tokens that candidates have in common (Jaccard index of their sets), where nothing embeds them. */
export const overlap = (candidates: readonly (readonly number[])[]): number =>
  central(
    candidates.map((tokens) => new Set(tokens)),
    (a, b) => {
      const shared = [...a].filter((token) => b.has(token)).length;
      return shared / (a.size + b.size - shared || 1);
    },
  );
