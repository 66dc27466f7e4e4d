// The figures under an answer. Each is a fold of src/trace.ts over the run's events, shown whenever tokens are committed.
import { METRICS, type Metric, type TraceEvent } from '../src/trace.ts';
import { say } from './elements.ts';

interface Figure {
  start(): void;
  add(event: TraceEvent): void;
  show(): void;
}

const figure = <State, Value>(id: string, metric: Metric<State, Value>, write: (value: Value) => string): Figure => {
  let state = metric.start;
  const start = (): void => {
    state = metric.start;
    say(id, '–');
  };
  const add = (event: TraceEvent): void => {
    state = metric.add(state, event);
  };
  return { start, add, show: () => say(id, write(metric.value(state))) };
};

const firstToken: Metric<number | null, number | null> = {
  start: null,
  add: (at, event) => at ?? (event.type === 'commit' ? event.at : null),
  value: (at) => at,
};

const { accepted, drafted } = METRICS;
const acceptance: Metric<{ kept: number; all: number }, number | null> = {
  start: { kept: accepted.start, all: drafted.start },
  add: ({ kept, all }, event) => ({ kept: accepted.add(kept, event), all: drafted.add(all, event) }),
  value: ({ kept, all }) => (all > 0 ? kept / all : null),
};

/** Two digits that matter, or whole numbers. */
export const brief = (value: number): string => value.toFixed(value < 9.95 ? 1 : 0);

const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

const or = (write: (value: number) => string) => (value: number | null) => (value === null ? '–' : write(value));

export const createFigures = (): readonly Figure[] => [
  figure('speed', METRICS.tokens_per_second, or(brief)),
  figure('first', firstToken, or(duration)),
  figure(
    'tau',
    METRICS.tokens_per_round,
    or((tau) => tau.toFixed(2)),
  ),
  figure(
    'acceptance',
    acceptance,
    or((share) => `${Math.round(100 * share)} %`),
  ),
  figure('rounds', METRICS.rounds, String),
  figure('count', METRICS.tokens, String),
];
