// Recorded runs of the real engine, replayed where there is no WebGPU, slowly enough to be followed; every figure keeps the
// recorded times. `npm run record` writes them.
import type { TraceEvent } from '../src/trace.ts';
import type { Problem } from './problems.ts';

export interface Recording {
  readonly file: string;
  /** The same prompt decoded plainly, in the same session. */
  readonly plain?: string;
  readonly system: string;
  readonly problem: Problem;
  /** Where it was recorded. */
  readonly device: string;
}

export const recordings = async (): Promise<readonly Recording[]> => (await fetch('./traces/index.json')).json();

const events = async (file: string): Promise<TraceEvent[]> => {
  const text = await (await fetch(`./traces/${file}`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
};

/** The page says so too. */
const SLOWER = 8;

const until = (time: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, time - performance.now());
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

export async function* replay(file: string, signal: AbortSignal): AsyncGenerator<TraceEvent> {
  const recorded = await events(file);
  // The prompt is read in recorded time: there is nothing to follow until the first token.
  const first = recorded.find(({ type }) => type === 'commit')?.at ?? 0;
  const start = performance.now();
  let at = 0;
  for (const event of recorded) {
    const due = start + event.at + (SLOWER - 1) * Math.max(0, event.at - first);
    if (due > performance.now()) await until(due, signal);
    if (signal.aborted) {
      yield { at, type: 'done', finish_reason: 'aborted', stop: null, text: null };
      return;
    }
    at = event.at;
    yield event;
  }
}
