// The outcome of a run, live or recorded: what is needed to compare, inspect and save it.
import { committedTokens, fold, METRICS, type TraceEvent } from '../../src/trace/index.ts';

export interface Outcome {
  readonly system: string;
  readonly tokens: readonly number[];
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
}

/** Called as an answer begins; what it returns is called with the answer. */
export type OnAsk = (question: string) => (outcome: Outcome) => void;

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

/** The answer; empty where there is none. */
export const answerOf = (events: readonly TraceEvent[]): string => {
  const done = events.at(-1);
  return (done?.type === 'done' && done.text) || '';
};

/**
 * A timed run with the probabilities of another, where both decided the same: reading probabilities back costs time.
 * Otherwise the timed run as it is.
 */
export const withProbabilities = (timed: Outcome, detailed: Outcome): Outcome => {
  // Work on the device differs: reading back is work.
  const of = ({ events }: Outcome): readonly TraceEvent[] => events.filter(({ type }) => type !== 'kernels');
  const [plain, full] = [of(timed), of(detailed)];
  const decided = (event: TraceEvent | undefined): string =>
    event ? `${event.type} ${'tokens' in event ? event.tokens : ''}` : '';
  if (plain.length !== full.length || plain.some((event, i) => decided(event) !== decided(full[i]))) return timed;
  const known = new Map(plain.map((event, i) => [event, full[i]]));
  const events = timed.events.map((event): TraceEvent => {
    const other = known.get(event);
    if (event.type === 'verify' && other?.type === 'verify' && other.probabilities)
      return { ...event, probabilities: other.probabilities };
    if (event.type === 'commit' && other?.type === 'commit' && other.logprobs)
      return { ...event, logprobs: other.logprobs };
    return event;
  });
  return { ...timed, events };
};

/** Tokens per second after the first token; null if there were too few to measure. */
export const rateOf = ({ events }: Outcome): number | null => fold(METRICS.tokens_per_second, events);

/** One run of a system and one of its baseline, made one after the other. */
export interface Pair {
  readonly run: Outcome;
  readonly plain: Outcome;
}

/** The speed of a system divided by that of its baseline; null if either was too short to time. */
export const factorOf = ({ run, plain }: Pair): number | null => {
  const [mine, theirs] = [rateOf(run), rateOf(plain)];
  return mine === null || theirs === null ? null : mine / theirs;
};

/** Milliseconds of the whole answer: the prompt is read, and the tokens are written. */
export const wholeMs = ({ events }: Outcome): number => {
  const begins = events.find(({ type }) => type === 'run')?.at ?? 0; // it may have waited for another run
  return Math.max(0, ...events.filter(({ type }) => type === 'commit').map(({ at }) => at)) - begins;
};
