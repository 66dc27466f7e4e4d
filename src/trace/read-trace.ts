// Reads a stored trace: JSON lines, an optional header first, then the events of a run and, after its `done`, those of
// the plain run that was recorded with it. The text comes from a file, a link or another site, so every line is checked
// (check-events.ts) and old names become today's (old-names.ts). A problem is returned as data: this folder imports no
// errors.
import { EventChecker } from './check-events.ts';
import type { TraceEvent } from './events.ts';
import { withNewNames } from './old-names.ts';

/** A recorded trace of a long answer takes 100 kB; a thousand times that is no trace. */
export const MOST_TEXT = 2 ** 26;
const MOST_LINES = 2 ** 18;

/** What a trace holds. */
export interface TraceText {
  /** `{"outrider": "trace", …}`, where the first line is one. Its fields are not checked. */
  readonly header: Readonly<Record<string, unknown>> | null;
  readonly events: readonly TraceEvent[];
  /** Of the plain run; empty where none was recorded. */
  readonly plain: readonly TraceEvent[];
}

/** Why a text is no trace: the line, from 1, and the reason. */
export interface TraceProblem {
  readonly line: number;
  readonly problem: string;
}

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** JSON is read to any depth, and written only so deep: nothing but a number or a text is repeated. */
const named = (version: unknown): string =>
  typeof version === 'number' || typeof version === 'string'
    ? `version ${JSON.stringify(version).slice(0, 40)}`
    : 'this version';

/** A trace, or what is wrong with it. Linear in the text, and never an exception. */
export const readTraceText = (text: string): TraceText | TraceProblem => {
  if (text.length > MOST_TEXT) return { line: 1, problem: `it has more than ${MOST_TEXT} characters` };
  let header: Record<string, unknown> | null = null;
  let checker = new EventChecker();
  const runs: TraceEvent[][] = [[]];
  const lines = text.split('\n');
  if (lines.length > MOST_LINES) return { line: MOST_LINES, problem: `it has more than ${MOST_LINES} lines` };
  for (const [i, each] of lines.entries()) {
    if (each.trim() === '') continue;
    const value = parse(each);
    const line = i + 1;
    if (value === undefined) return { line, problem: `it is not JSON: ${each.trim().slice(0, 40)}` };
    const run = runs.at(-1) as TraceEvent[];
    if (runs.length === 1 && run.length === 0 && !header && isHeader(value)) {
      if (value.version !== 1) return { line, problem: `${named(value.version)} of trace files is not known here` };
      header = value;
      continue;
    }
    const problem = checker.problem(value);
    if (problem) return { line, problem };
    if (runs.length > 2) return { line, problem: 'a third run begins here' };
    run.push(withNewNames(value as TraceEvent));
    if ((value as TraceEvent).type !== 'done') continue;
    runs.push([]);
    checker = new EventChecker();
  }
  const [events = [], plain = []] = runs;
  if (events.length === 0) return { line: 1, problem: 'it has no events' };
  if (events.every(({ type }) => type !== 'run')) return { line: 1, problem: 'no run begins in it' };
  if (plain.length > 0 && plain.every(({ type }) => type !== 'run'))
    return { line: lines.length, problem: 'nothing but a second run may follow done' };
  return { header, events, plain };
};

const isHeader = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && 'outrider' in value && value.outrider === 'trace';
