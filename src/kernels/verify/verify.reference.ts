// CPU reference of both verification kernels, which the toy model uses too. A rule can be swapped for a wrong one,
// because a test of exactness has to see wrong ones fail.
import { chance, REPLACEMENT } from '../sampling/counter-random.ts';
import { drawReference } from '../sampling/sample.reference.ts';

export interface Outcome {
  /** The kept nodes, the anchor first. */
  readonly path: readonly number[];
  /** The token after the last of them. */
  readonly next: number;
  readonly source: 'corrected' | 'bonus';
}

export interface MatchRule {
  readonly follows: (token: number, drawn: number) => boolean;
  /** The node whose draw ends the round. */
  readonly last: (path: readonly number[]) => number;
}

export const MATCH: MatchRule = {
  follows: (token, drawn) => token === drawn,
  last: (path) => path.at(-1) as number,
};

export interface Match {
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** The target's draw after each node. */
  readonly draws: readonly number[];
}

export const matchReference = ({ tokens, parents, draws }: Match, rule = MATCH): Outcome => {
  const path = [0];
  for (;;) {
    const node = path.at(-1) as number;
    const children = parents.flatMap((parent, child) => (parent === node ? [child] : []));
    const kept = children.find((child) => rule.follows(tokens[child] as number, draws[node] as number));
    if (kept !== undefined) {
      path.push(kept);
      continue;
    }
    return { path, next: draws[rule.last(path)] as number, source: children.length === 0 ? 'bonus' : 'corrected' };
  }
};

export interface RatioRule {
  readonly keeps: (u: number, p: number, q: number) => boolean;
  /** Masses, in any unit, from which the first refused draft is replaced. */
  readonly replacement: (p: readonly number[], q: readonly number[]) => readonly number[];
  /** The node whose distribution the bonus is drawn from. */
  readonly last: (nodes: number) => number;
}

export const RATIO: RatioRule = {
  keeps: (u, p, q) => u * q < p,
  replacement: (p, q) => {
    const rest = p.map((x, i) => Math.max(0, x - (q[i] as number)));
    return rest.some((x) => x > 0) ? rest : p;
  },
  last: (nodes) => nodes - 1,
};

export interface Ratio {
  /** A chain, the anchor first. */
  readonly tokens: readonly number[];
  /** The target's distribution after each node. */
  readonly p: readonly (readonly number[])[];
  /** The distribution that each node but the anchor was drawn from. */
  readonly q: readonly (readonly number[])[];
  readonly seed: number;
  /** Absolute, of the anchor. */
  readonly position: number;
}

export const ratioReference = ({ tokens, p, q, seed, position }: Ratio, rule = RATIO): Outcome => {
  const path = [0];
  for (let node = 1; node < tokens.length; node++) {
    const token = tokens[node] as number;
    const [own, drafted] = [p[node - 1] as readonly number[], q[node - 1] as readonly number[]];
    if (!rule.keeps(chance(position + node, seed), own[token] as number, drafted[token] as number)) {
      const next = drawReference(rule.replacement(own, drafted), position + node, seed ^ REPLACEMENT);
      return { path, next, source: 'corrected' };
    }
    path.push(node);
  }
  const distribution = p[rule.last(tokens.length)] as readonly number[];
  return { path, next: drawReference(distribution, position + tokens.length, seed), source: 'bonus' };
};
