// CPU reference of the ensemble kernels, which toy ensembles use too: the combined distribution r, and the verification
// of a chain under it. A rule can be swapped for a wrong one, because a test of exactness has to see it fail.
import { distributionReference, largest } from '../sampling/sample.reference.ts';
import type { Draw } from '../sampling/sample.ts';
import { RATIO, type RatioRule, ratioReference } from '../verify/verify.reference.ts';

type Filters = Pick<Draw, 'temperature' | 'topK' | 'topP' | 'minP'>;

type Combination =
  | { readonly kind: 'weighted'; readonly weights: readonly number[] }
  | { readonly kind: 'contrastive'; readonly mu: number };

/** The logits of every member at one position. */
type Rows = readonly (readonly number[])[];

/** The filters that reported probabilities follow: at temperature 0 those of temperature 1. */
const reported = (filters: Filters): Filters =>
  filters.temperature > 0 ? filters : { temperature: 1, topK: 0, topP: 1, minP: 0 };

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const bestOf = (distribution: readonly number[]): number => distribution.indexOf(largest(distribution));

/** The logits of contrastive decoding. */
export const contrastReference = ([first = [], ...others]: Rows, mu: number): number[] =>
  first.map((logit, i) => logit - (mu * sum(others.map((row) => row[i] as number))) / others.length);

/** r as reported: never one-hot. */
const softReference = (rows: Rows, combination: Combination, filters: Filters): readonly number[] => {
  if (combination.kind === 'contrastive')
    return distributionReference(contrastReference(rows, combination.mu), reported(filters));
  const total = sum(combination.weights);
  const distributions = rows.map((row) => distributionReference(row, reported(filters)));
  return (rows[0] ?? []).map((_, i) =>
    sum(
      distributions.map(
        (distribution, k) => ((combination.weights[k] as number) / total) * (distribution[i] as number),
      ),
    ),
  );
};

/** r as tokens are drawn from it. */
export const combinedReference = (rows: Rows, combination: Combination, filters: Filters): readonly number[] => {
  const soft = softReference(rows, combination, filters);
  if (filters.temperature > 0) return soft;
  const best = bestOf(soft);
  return soft.map((_, i) => (i === best ? 1 : 0));
};

/** The distribution that a member drafts from: r, if all members agreed with it. */
export const draftDistributionReference = (row: readonly number[], combination: Combination, filters: Filters) => {
  const agreed = combination.kind === 'contrastive' ? Math.max(1 - combination.mu, 0.5) : 1;
  return distributionReference(row, { ...filters, temperature: filters.temperature / agreed });
};

export interface EnsembleQuestion {
  readonly tokens: readonly number[];
  /** Absolute, of the first draft. */
  readonly position: number;
  readonly proposers: readonly number[];
  /** By draft. */
  readonly rows: readonly Rows[];
  readonly bonus: Rows | null;
  readonly combination: Combination;
  readonly sampling: Filters & { readonly seed: number };
}

export const verifyEnsembleReference = (question: EnsembleQuestion, rule: RatioRule = RATIO) => {
  const { tokens, position, proposers, rows, bonus, combination, sampling } = question;
  const scored = bonus ? [...rows, bonus] : rows;
  if (scored.length === 0) throw new Error('a chain without drafts or a bonus');
  const r = scored.map((each) => combinedReference(each, combination, sampling));
  const { path, next, source } = ratioReference(
    {
      tokens: [-1, ...tokens], // the anchor, which is not read
      p: bonus ? r : [...r, r[0] as readonly number[]], // and a draw that is not used
      q: rows.map((each, i) =>
        draftDistributionReference(each[proposers[i] as number] as readonly number[], combination, sampling),
      ),
      seed: sampling.seed,
      position: position - 1,
    },
    rule,
  );
  const kept = path.length - 1;
  const last = source === 'bonus' && !bonus ? null : source;
  const committed = [...tokens.slice(0, kept), ...(last ? [next] : [])];
  const votes = committed.map((token, i) => {
    const each = scored[i] as Rows;
    return {
      r: softReference(each, combination, sampling)[token] as number,
      own: each.map((row) => {
        const distribution = distributionReference(row, reported(sampling));
        const own = bestOf(row);
        return { token: own, probability: distribution[own] as number, committed: distribution[token] as number };
      }),
    };
  });
  const choices = committed.map((token, i) => ({ token, logprob: Math.log((votes[i] as { r: number }).r) }));
  return { kept, choices, source: last, votes };
};
