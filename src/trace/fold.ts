// Folds: every figure is a state, a step for each event, and a value at the end.
import type { TraceEvent } from './events.ts';

/** A fold over the stream. No other code counts anything. */
export interface Metric<State, Value> {
  readonly start: State;
  /** The state after one more event. */
  add(state: State, event: TraceEvent): State;
  /** The figure. */
  value(state: State): Value;
}

/** A metric over a whole run. */
export const fold = <State, Value>(metric: Metric<State, Value>, events: Iterable<TraceEvent>): Value => {
  let state = metric.start;
  for (const event of events) state = metric.add(state, event);
  return metric.value(state);
};

/** The sum of an amount that each event has. */
export const total = (amount: (event: TraceEvent) => number): Metric<number, number> => ({
  start: 0,
  add: (sum, event) => sum + amount(event),
  value: (sum) => sum,
});

/** One figure from two. */
export const both = <S, T, A, B, Value>(
  a: Metric<S, A>,
  b: Metric<T, B>,
  value: (a: A, b: B) => Value,
): Metric<[S, T], Value> => ({
  start: [a.start, b.start],
  add: ([s, t], event) => [a.add(s, event), b.add(t, event)],
  value: ([s, t]) => value(a.value(s), b.value(t)),
});

/** Null instead of a division by zero. */
export const ratio = (numerator: number, denominator: number): number | null =>
  denominator > 0 ? numerator / denominator : null;
