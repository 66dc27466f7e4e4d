// What rounds cost, in plain rounds: as measured on this device, as assumed where the clock must not decide, or as
// expected from both where few kinds of rounds were timed yet.
import { MOST_ROWS, PASS_ROWS, paddedRows } from '../../base/pass-rows.ts';
import type { Timings } from './timings.ts';

/** What a speculative round consisted of: rounds of one kind cost the same. */
export interface RoundKind {
  /** Rows that the target verified. */
  readonly nodes: number;
  /** Passes of the drafter. */
  readonly passes: number;
}

/** Costs in plain rounds; null where they are not known yet. */
export type Cost = (kind: RoundKind) => number | null;

/** Rounds of a kind before its measured cost is used. */
const ENOUGH = 4;

/** The name under which rounds of a kind are timed: the device pads their rows. */
export const roundName = ({ nodes, passes }: RoundKind): string => `${passes}+${paddedRows(nodes)}`;

export const measuredCost =
  (timings: Timings): Cost =>
  (kind) =>
    timings.cost(roundName(kind), ENOUGH);

/**
 * Passes of as many rows, in passes of one, on a software adapter (docs/log/speculation.md). Other devices differ in how
 * fast the cost grows, so what was measured stretches the whole curve.
 */
const USUAL: Readonly<Record<number, number>> = { 1: 1, 2: 1.3, 4: 1.8, 8: 2.4, 12: 4.2, 16: 4.5 };
/** Drafts that were written one token after another: where no round of as many passes was timed, these are nearest. */
const CHAINS: readonly RoundKind[] = Array.from({ length: 15 }, (_, i) => ({ nodes: i + 2, passes: i + 1 }));

/** A drafter's pass, where nothing better is known of it. */
const USUAL_DRAFTING = 0.3;

/** What each row of a round is assumed to add, in plain rounds. */
const ROW = { software: 0.15, gpu: 0.05 } as const;

/**
 * For drafts that were drawn at random. Which of their rounds are plain decides what is drawn, so it must not depend on
 * the clock: one seed would give two answers. The lines fit what rounds cost on the slowest software adapters
 * (docs/log/speculation.md) and on an H200 (docs/log/kernels.md). `software`: the device is such an adapter. `drafting`:
 * what a drafter's pass usually costs.
 */
export const assumedCost =
  (software: boolean, drafting = USUAL_DRAFTING): ((kind: RoundKind) => number) =>
  ({ nodes, passes }) =>
    1.2 + (software ? ROW.software : ROW.gpu) * nodes + drafting * passes;

/**
 * Always a number: a kind of round that was not timed costs what the nearest one that was suggests. Without timings it
 * is the same on every device. `drafting`: what a drafter's pass usually costs.
 */
export const expectedCost = (timings: Timings | null, drafting = USUAL_DRAFTING): ((kind: RoundKind) => number) => {
  const usualCost = ({ nodes, passes }: RoundKind): number => {
    const rows = paddedRows(nodes);
    const rest = rows % MOST_ROWS;
    return ((rows - rest) / MOST_ROWS) * (USUAL[MOST_ROWS] as number) + (USUAL[rest] ?? 0) + drafting * passes;
  };
  const measured = (kind: RoundKind): number | null => timings?.cost(roundName(kind)) ?? null;
  return ({ nodes, passes }) => {
    const rows = paddedRows(nodes);
    const usual = usualCost({ nodes, passes });
    // What a round without drafts costs more than a plain one is noise: nothing follows from it for others.
    const alike = [rows, ...PASS_ROWS.filter((each) => each > 1)]
      .map((each) => ({ nodes: each, passes }))
      .filter((kind) => measured(kind) !== null);
    const timed = alike.length > 0 ? alike : CHAINS.filter((kind) => measured(kind) !== null);
    const far = (kind: RoundKind) => Math.abs(paddedRows(kind.nodes) - rows);
    const [nearest] = timed.toSorted((a, b) => far(a) - far(b));
    if (nearest === undefined) return usual;
    const stretch = ((measured(nearest) as number) - 1) / (usualCost(nearest) - 1);
    return 1 + Math.max(0, stretch) * (usual - 1);
  };
};
