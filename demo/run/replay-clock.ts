// Replays the events of a finished run or of a trace at their recorded times, or slower.
import type { TraceEvent } from '../../src/trace/index.ts';

export interface ReplayOptions {
  /** How many times slower after the first token. The time before it is not stretched: there is nothing to see yet. */
  readonly slower: number;
  readonly signal: AbortSignal;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const until = async (time: number, signal: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const due = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time - performance.now());
  });
  await Promise.race([due, aborted(signal)]);
  clearTimeout(timer);
};

/** A page that draws this long without a pause does not answer: what is due at once may be a long run. */
const MOST_MS = 50;

/** An aborted replay ends with a `done` event, as an aborted run does. */
export async function* replayed(
  events: readonly TraceEvent[],
  { slower, signal }: ReplayOptions,
): AsyncGenerator<TraceEvent, void, undefined> {
  const first = events.find(({ type }) => type === 'commit')?.at ?? 0;
  const start = performance.now();
  let at = 0;
  let rested = start;
  for (const event of events) {
    const due = start + event.at + (slower - 1) * Math.max(0, event.at - first);
    const now = performance.now();
    if (due > now || now - rested > MOST_MS) {
      await until(due, signal);
      rested = performance.now();
    }
    if (signal.aborted) {
      yield { at, type: 'done', finish_reason: 'aborted', stop: null, text: null };
      return;
    }
    at = event.at;
    yield event;
  }
}
