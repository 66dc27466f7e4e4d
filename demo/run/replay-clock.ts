// A run once more, at the pace at which it was recorded or slower: of a trace, or of the lane that has finished already.
import type { TraceEvent } from '../../src/trace/index.ts';

export interface Pace {
  /** How many times slower behind the first token; before it there is nothing to follow. */
  readonly slower?: number;
  /** The first token comes when this is there, instead of when it came. */
  readonly together?: Promise<unknown>;
  readonly signal: AbortSignal;
}

/** Something that others wait for. */
export class Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;

  constructor() {
    let open = (): void => {};
    this.opened = new Promise((resolve) => {
      open = resolve;
    });
    this.open = open;
  }
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

/** Where it is aborted it ends as a run does. */
export async function* paced(
  events: readonly TraceEvent[],
  { slower = 1, together, signal }: Pace,
): AsyncGenerator<TraceEvent, void, undefined> {
  const first = events.find(({ type }) => type === 'commit')?.at ?? 0;
  if (together) await Promise.race([together, aborted(signal)]);
  const start = performance.now() - (together ? first : 0);
  let at = 0;
  for (const event of events) {
    const due = start + event.at + (slower - 1) * Math.max(0, event.at - first);
    if (due > performance.now()) await until(due, signal);
    if (signal.aborted) {
      yield { at, type: 'done', finish_reason: 'aborted', stop: null, text: null };
      return;
    }
    at = event.at;
    yield event;
  }
}
