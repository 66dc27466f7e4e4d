// Drafts of an EAGLE-3 or MTP layer, which feeds its own output back: a chain, or a tree that grows on the device.
import type { FeatureCursor } from '../../model/interface.ts';
import { chainOf } from '../core/chain.ts';
import { greedySampling } from '../core/draft-sampling.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Place } from '../core/timings.ts';
import { ChainDepth } from './chain-depth.ts';
import type { Drafter, Proposal } from './drafter.ts';

export interface DraftShape {
  readonly shape: 'tree' | 'chain';
  /** Tokens of the longest path; 0: as many as pay. */
  readonly depth: number;
  readonly width: number;
  readonly nodes: number;
  /** A chain's tokens are drawn at random at temperature > 0; else they are the most probable ones. */
  readonly drawn: boolean;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
  /** What earlier runs have shown of drafts that are as deep as pays. */
  readonly places: Place[];
}

/** The deepest draft where as many are written as pay. */
export const MOST_PAYING = 8;

/**
 * The most nodes at this depth: the anchor has `width` children, and so has each of the `width` nodes of a later beam.
 */
const nodesAt = ({ shape, width, nodes }: DraftShape, depth: number): number =>
  shape === 'chain' ? depth : Math.min(nodes, width + (depth - 1) * width * width);

/** `deepest`: the most levels of a tree of this width. */
export const treeDrafter = (
  cursor: FeatureCursor,
  shape: DraftShape & Pick<Drafter, 'by'> & { readonly deepest: number },
  observe: Drafter['observe'],
): Drafter => {
  const nodes = (depth: number) => nodesAt(shape, depth) + 1;
  const most = shape.shape === 'tree' ? Math.min(MOST_PAYING, shape.deepest) : MOST_PAYING;
  const paying = shape.depth === 0 ? new ChainDepth({ ...shape, most, nodes, passes: (depth) => depth }) : null;
  let drafted = 0;
  return {
    by: shape.by,
    ...(paying && { rate: () => paying.best.rate }),
    propose({ tokens, drafting }, most): Proposal | null {
      const depth = Math.min(paying?.best.depth ?? shape.depth, most, cursor.capacity - cursor.length);
      if (depth < 1 || cursor.length < tokens.length - 1) return null;
      drafted = depth;
      const anchor = tokens[tokens.length - 1] as number;
      if (shape.shape === 'tree') {
        const tree = cursor.tree(anchor, { depth, width: shape.width, nodes: nodesAt(shape, depth) });
        return { tree, distributions: null, nodes: tree.nodes, passes: depth };
      }
      const sampling = shape.drawn ? drafting : greedySampling(drafting);
      const { tokens: drafts, distributions } = cursor.chain(depth, sampling);
      return { tree: chainOf([anchor, ...drafts]), distributions, nodes: nodes(depth), passes: depth };
    },
    observe(outcome) {
      if (drafted > 0) paying?.add(drafted, outcome.path.length - 1);
      drafted = 0;
      observe(outcome);
    },
  };
};
