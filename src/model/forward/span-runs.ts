// The runs that a pass takes. It is one, unless longrope's limit lies among its rows: then those of sequences up to the
// limit are computed first, and all are computed again, with the long factors, for those past it.
import { refuse } from '../../base/refuse.ts';
import type { LongRope } from '../cache/long-rope.ts';
import { lengthOf } from '../cache/visibility.ts';
import type { PassRows, TreePart } from './pass-rows.ts';
import type { Span } from './rope-table.ts';

export interface SpanRun {
  /** Null: the rows do not depend on the length of their sequence. */
  readonly span: Span | null;
  /** Those of trees that this run does not serve are dead. */
  readonly rows: PassRows;
  /** The trees that it serves. */
  readonly trees: readonly TreePart[];
  /** Whether a row's results are those of this run. */
  readonly serves: (row: number) => boolean;
}

const every = (): boolean => true;

/** A tree that a drafter grew lies on one side: the host does not know its nodes (`Cursor.levels`). */
const deviceRun = (longRope: LongRope, rows: Extract<PassRows, { from: 'tree' }>): SpanRun => {
  const { past, count, tree } = rows;
  if (tree.levels > longRope.levels(past))
    throw refuse(`a tree on the device crosses position ${longRope.limit}, where this model's RoPE changes`);
  const span = longRope.spanOf(lengthOf(past), 0);
  return { span, rows, trees: [{ past, count, length: 0 }], serves: every };
};

const hostRuns = (longRope: LongRope, rows: Extract<PassRows, { from: 'host' }>): readonly SpanRun[] => {
  const { count, trees = [] } = rows;
  const treeOf = trees.flatMap((tree) => Array<TreePart>(tree.count).fill(tree));
  const spans = rows
    .rows(null, 0, count)
    .map(({ position }, row) => longRope.spanOf(position, (treeOf[row] as TreePart).length));
  return (['short', 'long'] as const)
    .filter((span) => spans.includes(span))
    .map((span) => {
      const served = new Set(treeOf.filter((_, row) => spans[row] === span));
      const isServed = (row: number): boolean => served.has(treeOf[row] as TreePart);
      return {
        span,
        rows: {
          ...rows,
          rows: (window, first, some) =>
            rows.rows(window, first, some).map((row, i) => (isServed(first + i) ? row : { ...row, alive: 0 })),
        },
        trees: [...served],
        serves: (row) => spans[row] === span,
      };
    });
};

export const spanRuns = (longRope: LongRope | null, rows: PassRows): readonly SpanRun[] => {
  if (longRope && rows.from === 'tree') return [deviceRun(longRope, rows)];
  if (longRope && rows.from === 'host') return hostRuns(longRope, rows);
  const trees = rows.from === 'tree' ? [{ ...rows, length: 0 }] : rows.from === 'host' ? (rows.trees ?? []) : [];
  return [{ span: null, rows, trees, serves: every }];
};
