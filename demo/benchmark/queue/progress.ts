// How far a benchmark is, and how long the rest will take. Only the rows that are run count: a baseline runs next to them.
import type { Row } from './plan.ts';

export interface Progress {
  /** Runs that are made or given up, and all of them. */
  readonly made: number;
  readonly all: number;
  /** The row that runs, counted from 1, and the number of rows. */
  readonly row: number;
  readonly rows: number;
}

export const progressOf = (rows: readonly Row[], repeat: number): Progress => {
  const own = rows.filter(({ runsWithOthers }) => !runsWithOthers);
  const madeOf = ({ cells }: Row): number =>
    cells.reduce((sum, { state, runs }) => sum + (state === 'failed' ? repeat : runs), 0);
  const allOf = ({ cells }: Row): number => repeat * cells.length;
  const at = own.findIndex((row) => madeOf(row) < allOf(row));
  return {
    made: own.reduce((sum, row) => sum + madeOf(row), 0),
    all: own.reduce((sum, row) => sum + allOf(row), 0),
    row: (at < 0 ? own.length - 1 : at) + 1,
    rows: own.length,
  };
};

/** To the next 10 seconds or to the next minute: what runs so far took says no more. */
const about = (seconds: number): string =>
  seconds <= 90 ? `${10 * Math.ceil(seconds / 10)} s` : `${Math.ceil(seconds / 60)} min`;

/** `before`: the progress when the queue started, `seconds` ago. Without a finished run nothing is known of the time. */
export const progressText = ({ made, all, row, rows }: Progress, before: Progress, seconds: number): string => {
  if (made >= all) return '';
  const fresh = made - before.made;
  const left = fresh > 0 ? `, about ${about((seconds / fresh) * (all - made))} left` : '';
  return `Row ${row} of ${rows}${left}`;
};
