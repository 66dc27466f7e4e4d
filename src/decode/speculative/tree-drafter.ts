// Drafts of an EAGLE-3 layer, which feeds its own output back: a chain, or a tree that grows on the device.
import type { FeatureCursor } from '../../model/interface.ts';
import { chainOf } from '../core/chain.ts';
import type { Drafter, Proposal } from './drafter.ts';

interface Shape {
  readonly shape: 'tree' | 'chain';
  readonly depth: number;
  readonly width: number;
  readonly nodes: number;
}

/**
 * The most nodes at this depth: the anchor has `width` children, and so has each of the `width` nodes of a later beam.
 */
const nodesAt = ({ width, nodes }: Shape, depth: number): number =>
  Math.min(nodes, width + (depth - 1) * width * width);

export const treeDrafter = (cursor: FeatureCursor, shape: Shape, observe: Drafter['observe']): Drafter => ({
  by: 'eagle3',
  propose({ tokens, drafting }, most): Proposal | null {
    const depth = Math.min(shape.depth, most, cursor.capacity - cursor.length);
    if (depth < 1 || cursor.length < tokens.length - 1) return null;
    const anchor = tokens[tokens.length - 1] as number;
    if (shape.shape === 'tree') {
      const tree = cursor.tree(anchor, { depth, width: shape.width, nodes: nodesAt(shape, depth) });
      return { tree, distributions: null, nodes: tree.nodes, passes: depth };
    }
    const { tokens: drafts, distributions } = cursor.chain(depth, drafting);
    return { tree: chainOf([anchor, ...drafts]), distributions, nodes: depth + 1, passes: depth };
  },
  observe,
});
