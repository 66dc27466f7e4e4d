// How likely a looked-up draft is kept. Longer matches are right more often, and each draft that is kept makes the match
// longer by one; so a draft's chance is that of matches as long as the one that it would continue, times its share of the
// places found. The chances are learned from the text of the run, whether or not a draft was verified, and begin with
// those of texts that were measured (docs/log/speculation.md).
import type { Proposal } from './drafter.ts';

/**
 * Matches of these lengths and more, and how often the token that followed them came again. 0: the text before the place
 * was copied, but for its last token.
 */
const BEGIN = [
  { from: 0, chance: 0.5 },
  { from: 1, chance: 0.3 },
  { from: 2, chance: 0.45 },
  { from: 3, chance: 0.65 },
  { from: 4, chance: 0.75 },
  { from: 6, chance: 0.8 },
  { from: 9, chance: 0.9 },
  { from: 17, chance: 0.95 },
] as const;
/** Tokens that count as much as what was assumed. */
const WEIGHT = 4;
/** How much an older token counts, for each of its kind that came after it. */
const DECAY = 0.98;

/** What followed a text, as a tree. Node 0 is its last token. */
export interface Continuations {
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** For each node, the share of its parent's places that go on this way. */
  readonly shares: readonly number[];
}

/** A proposal of the likeliest nodes, at most so many, ordered by their chances. */
export const likeliestFirst = (
  { tokens, parents }: { readonly tokens: readonly number[]; readonly parents: readonly number[] },
  chances: readonly number[],
  most = chances.length,
): Proposal & { readonly chances: readonly number[] } => {
  // A node is at most as likely as its parent and comes after it, so it stays after it.
  const order = [...chances.keys()]
    .sort((a, b) => (chances[b] as number) - (chances[a] as number) || a - b)
    .slice(0, most);
  return {
    by: 'lookup',
    tree: {
      tokens: order.map((node) => tokens[node] as number),
      parents: order.map((node) => order.indexOf(parents[node] as number)),
    },
    distributions: null,
    chances: order.map((node) => chances[node] as number),
    nodes: order.length,
    passes: 0,
  };
};

export class MatchAcceptance {
  readonly #counts = BEGIN.map(({ from, chance }) => ({ from, kept: WEIGHT * chance, tested: WEIGHT }));
  #last: { readonly tree: Continuations; readonly length: number } | null = null;

  /** All that followed a match of this length, the likeliest nodes first. */
  propose(tree: Continuations, length: number): Proposal & { readonly chances: readonly number[] } {
    this.#last = { tree, length };
    const depths: number[] = [];
    const chances: number[] = [];
    for (const [node, parent] of tree.parents.entries()) {
      const depth = node === 0 ? 0 : (depths[parent] as number) + 1;
      depths.push(depth);
      const before = chances[parent] ?? 1;
      chances.push(node === 0 ? 1 : before * (tree.shares[node] as number) * this.chance(length + depth - 1));
    }
    return likeliestFirst(tree, chances);
  }

  /** What was committed after the text that was looked up last. */
  observe(committed: readonly number[]): void {
    if (!this.#last) return;
    const { tree, length } = this.#last;
    this.#last = null;
    let node = 0;
    for (const [depth, token] of committed.entries()) {
      if (!tree.parents.includes(node)) return;
      const counts = this.#of(length + depth);
      node = tree.parents.findIndex((parent, child) => parent === node && tree.tokens[child] === token);
      counts.kept = DECAY * counts.kept + Number(node > 0);
      counts.tested = DECAY * counts.tested + 1;
      if (node < 0) return;
    }
  }

  /** How likely what followed a match of this length is kept. */
  chance(length: number): number {
    const { kept, tested } = this.#of(length);
    return Math.min(0.99, Math.max(0.01, kept / tested));
  }

  #of(length: number): { kept: number; tested: number } {
    return this.#counts.findLast(({ from }) => from <= length) as { kept: number; tested: number };
  }
}
