// Selects one of several candidate steps (SpecGuard, arXiv 2604.15244): the most central one. The paper takes
// argmin_j S̃_jj of the row-softmax S̃ of the similarities S; with S_jj = 1 that is argmax_j Σ_l exp(S_jl). The lowest
// index wins ties.

import type { SentenceEncoder } from '../core/system.ts';
import type { Candidate } from './candidates.ts';

/** Gives the index of the selected candidate. */
export type SelectCandidate = (candidates: readonly Candidate[]) => Promise<number>;

const central = <T>(candidates: readonly T[], similarity: (a: T, b: T) => number): number => {
  const sums = candidates.map((a) => candidates.reduce((sum, b) => sum + Math.exp(a === b ? 1 : similarity(a, b)), 0));
  return sums.reduce((best, sum, j) => (sum > (sums[best] as number) ? j : best), 0);
};

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** By the cosine of embeddings: those of a sentence model, or the draft's own pooled hidden states. */
export const mostCentral = (embeddings: readonly Float32Array[]): number => {
  const unit = embeddings.map((embedding) => {
    const length = Math.sqrt(dot(embedding, embedding));
    return length > 0 ? embedding.map((x) => x / length) : embedding.slice();
  });
  return central(unit, dot);
};

/**
 * By a sentence model. Equal texts are embedded once: draws are often alike, and an embedding takes longer than a
 * draft.
 */
export const mostCentralText = async (texts: readonly string[], embed: SentenceEncoder['embed']): Promise<number> => {
  const distinct = [...new Set(texts)];
  if (distinct.length === 1) return 0;
  const embeddings = await embed(distinct);
  return mostCentral(texts.map((text) => embeddings[distinct.indexOf(text)] as Float32Array));
};

/** By the tokens alone: the share of tokens in both among those in either (Jaccard). */
export const mostOverlapping = (candidates: readonly (readonly number[])[]): number =>
  central(
    candidates.map((tokens) => new Set(tokens)),
    (a, b) => {
      const both = [...a].filter((token) => b.has(token)).length;
      return both / Math.max(1, a.size + b.size - both);
    },
  );

/** Compares candidates by the draft's own states, unless another way is chosen and loaded. `none` takes the first. */
export const selectBy =
  (
    by: 'sentences' | 'states' | 'tokens' | 'none',
    { sentences, textOf }: { sentences?: SentenceEncoder | undefined; textOf: (tokens: readonly number[]) => string },
  ): SelectCandidate =>
  async (candidates) => {
    const steps = candidates.map(({ tokens }) => tokens);
    if (steps.length === 1 || by === 'none') return 0;
    if (by === 'tokens') return mostOverlapping(steps);
    if (by === 'sentences' && sentences) return mostCentralText(steps.map(textOf), sentences.embed);
    return mostCentral(candidates.map(({ pooled }) => pooled ?? new Float32Array(1)));
  };
