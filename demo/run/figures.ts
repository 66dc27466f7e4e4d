// The figures under an answer. Each is a metric of the trace, folded over the run's events and shown at every commit.
import { acceptanceLength, METRICS, type Metric, type TraceEvent } from '../../src/trace/index.ts';
import { say } from '../shared/elements.ts';

/** A metric that is folded while events arrive. */
export class Running<State, Value> {
  readonly #metric: Metric<State, Value>;
  #state: State;

  constructor(metric: Metric<State, Value>) {
    this.#metric = metric;
    this.#state = metric.start;
  }

  start(): void {
    this.#state = this.#metric.start;
  }

  add(event: TraceEvent): void {
    this.#state = this.#metric.add(this.#state, event);
  }

  get value(): Value {
    return this.#metric.value(this.#state);
  }
}

interface Figure {
  start(): void;
  add(event: TraceEvent): void;
  show(): void;
}

const figure = <State, Value>(id: string, metric: Metric<State, Value>, write: (value: Value) => string): Figure => {
  const running = new Running(metric);
  const start = (): void => {
    running.start();
    say(id, '–');
  };
  return { start, add: (event) => running.add(event), show: () => say(id, write(running.value)) };
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

/** Two significant digits, or a whole number. */
export const brief = (value: number): string => value.toFixed(value < 9.95 ? 1 : 0);

export const duration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;

const or = (write: (value: number) => string) => (value: number | null) => (value === null ? '–' : write(value));

export const createFigures = (): readonly Figure[] => [
  figure('speed', METRICS.tokens_per_second, or(brief)),
  figure('first', firstToken, or(duration)),
  figure(
    'tau',
    acceptanceLength,
    or((tau) => tau.toFixed(2)),
  ),
  figure(
    'acceptance',
    acceptance,
    or((share) => `${Math.round(100 * share)} %`),
  ),
  figure('passes', METRICS.target_passes, String),
  figure('rounds', METRICS.rounds, String),
  figure('count', METRICS.tokens, String),
];
