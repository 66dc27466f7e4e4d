// A trace as a file and as a part of an address. The file is JSON lines: a header, the run's events, and behind its `done`
// the events of the plain run beside it, if there was one. What `outrider generate --json` prints has no header and opens too.
import { OutriderError, SYSTEMS } from '../../src/index.ts';
import { readTraceText, type TraceEvent } from '../../src/trace/index.ts';
import type { Problem } from '../run/problems.ts';

export interface TraceFile {
  readonly title: string;
  readonly problem?: Problem | undefined;
  /** Where it was recorded. */
  readonly device?: string | undefined;
  readonly events: readonly TraceEvent[];
  /** The same prompt decoded plainly, in the same session. */
  readonly plain?: readonly TraceEvent[] | undefined;
}

const HINT = 'A trace is saved by this page, or written by `outrider generate --json`.';

const bad = (message: string, hint = HINT): OutriderError => new OutriderError('bad-trace', message, hint);

interface Header {
  readonly title?: string;
  readonly problem?: Problem;
  readonly device?: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readHeader = ({ title, device, problem }: Readonly<Record<string, unknown>>): Header => {
  const { question, answer, result } = (isObject(problem) ? problem : {}) as Partial<Problem>;
  const known = typeof question === 'string' && typeof result === 'string';
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof device === 'string' && { device }),
    ...(known && { problem: { question, result, answer: typeof answer === 'string' ? answer : '' } }),
  };
};

export const readTrace = (text: string): TraceFile => {
  const read = readTraceText(text);
  if ('problem' in read) throw bad(`line ${read.line}: ${read.problem}`);
  const { header, events, plain } = read;
  const system = events.find((event) => event.type === 'run')?.system ?? '';
  const title = SYSTEMS.find(({ id }) => id === system)?.title ?? system;
  return { title, ...(header && readHeader(header)), events, ...(plain.length > 0 && { plain }) };
};

/** The page folds the metrics itself; the command line's last event has them. */
const lean = (key: string, value: unknown): unknown => (key === 'metrics' ? undefined : value);

export const writeTrace = ({ events, plain = [], ...about }: TraceFile): string => {
  const header = { outrider: 'trace', version: 1, ...about };
  return `${[header, ...events, ...plain].map((line) => JSON.stringify(line, lean)).join('\n')}\n`;
};

/** Of an address once inflated. 8 kB of it are 100 kB of trace; a thousand times more is an attack on the tab's memory. */
const MOST_INFLATED = 2 ** 24;

const through = async (
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > MOST_INFLATED) {
      await reader.cancel();
      throw bad(`the trace in this address is longer than ${MOST_INFLATED / 2 ** 20} MB`, 'Ask for it as a file.');
    }
    pieces.push(read.value);
  }
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
};

/** Five digits of a time or a probability: nobody sees more. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;

const isCount = ({ type, spans }: { type?: string; spans?: readonly unknown[] }): boolean =>
  type === 'kernels' && spans?.length === 0;

/** For an address: without counts of dispatches, which no view of a trace shows. Times of kernels stay. */
export const encodeTrace = async (file: TraceFile): Promise<string> => {
  const lines = writeTrace(file)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((line) => !isCount(line))
    .map((line) => JSON.stringify(line, rounded));
  const bytes = new TextEncoder().encode(lines.join('\n'));
  const packed = await through(bytes, new CompressionStream('deflate-raw'));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
};

export const decodeTrace = async (address: string): Promise<TraceFile> => {
  let text: string;
  try {
    const binary = atob(address.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    text = new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
  } catch (cause) {
    if (cause instanceof OutriderError) throw cause;
    throw bad('the trace in this address is not whole', 'Copy the whole address, or ask for the file.');
  }
  return readTrace(text);
};
