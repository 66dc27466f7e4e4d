// The outcome of a run, live or recorded: what is needed to compare, inspect and save it.
import { committedTokens, fold, METRICS, type TraceEvent } from '../../src/trace/index.ts';

export interface Outcome {
  readonly system: string;
  readonly tokens: readonly number[];
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
}

export const outcomeOf = (events: readonly TraceEvent[]): Outcome => {
  const run = events.find((event) => event.type === 'run');
  const done = events.at(-1);
  return {
    system: run?.system ?? '',
    tokens: committedTokens(events),
    complete: done?.type === 'done' && done.finish_reason !== 'aborted',
    events,
  };
};

/** Tokens per second after the first token; null if there were too few to measure. */
export const rateOf = ({ events }: Outcome): number | null => fold(METRICS.tokens_per_second, events);
