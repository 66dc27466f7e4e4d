// Replays trace files without a GPU: JSON lines of events as `generate --json` prints them, or as the demo saves them,
// with a header line.
import { OutriderError } from '../base/errors.ts';
import { readTraceText, type TraceEvent } from '../trace/index.ts';

export interface Recording {
  /** The question, when the file has it. */
  readonly prompt: string | null;
  readonly events: readonly TraceEvent[];
}

const noTrace = (message: string): OutriderError =>
  new OutriderError(
    'bad-trace',
    `not a trace: ${message}`,
    'Save one in the demo, or with `outrider generate --json`.',
  );

/** The demo's recordings have a problem; otherwise a title serves. */
const promptOf = ({ problem, title }: Record<string, unknown>): string | null => {
  const question = (problem as { readonly question?: unknown } | undefined)?.question;
  return [question, problem, title].find((text) => typeof text === 'string') ?? null;
};

export const readRecording = (text: string): Recording => {
  const read = readTraceText(text);
  if ('problem' in read) throw noTrace(`line ${read.line}: ${read.problem}`);
  const { header, events } = read;
  if (!events.some(({ type }) => type === 'commit')) throw noTrace('nothing is committed in it');
  return { prompt: header && promptOf(header), events };
};

const until = (time: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, time - performance.now()));
    signal.addEventListener('abort', end);
  });

/** A page that draws this long without a pause does not answer: what is due at once may be a long run. */
const MOST_MS = 50;

/** At `speed` times the recorded speed. An abort ends it as it ends a run. */
export async function* replay(
  { events }: Recording,
  speed: number,
  signal: AbortSignal,
): AsyncGenerator<TraceEvent, void, undefined> {
  const start = performance.now();
  let rested = start;
  for (const event of events) {
    const due = start + event.at / speed;
    const now = performance.now();
    if ((due > now || now - rested > MOST_MS) && !signal.aborted) {
      await until(due, signal);
      rested = performance.now();
    }
    if (signal.aborted) return yield { at: event.at, type: 'done', finish_reason: 'aborted', stop: null, text: null };
    yield event;
  }
}

export const fetchRecording = async (address: string, signal: AbortSignal): Promise<Recording> => {
  const response = await fetch(address, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new OutriderError(
      'download-failed',
      `${address} cannot be fetched`,
      'Check the address, CORS and the connection.',
    );
  });
  if (!response.ok)
    throw new OutriderError(
      'download-failed',
      `${address}: ${response.status} ${response.statusText}`,
      'Check the address.',
    );
  return readRecording(await response.text());
};
