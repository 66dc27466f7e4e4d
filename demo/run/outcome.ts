// What is left of a run, live or recorded: enough to compare it with another, to look inside it, to save it.
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

/** Tokens a second behind the first one; null when there were too few to tell. */
export const rateOf = ({ events }: Outcome): number | null => fold(METRICS.tokens_per_second, events);
