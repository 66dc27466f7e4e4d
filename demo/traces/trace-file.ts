// A trace as a file and as part of an address. The file is JSON lines: a header, the events of the run, and after its
// `done` the events of the plain run, if there is one. The output of `outrider generate --json`, which has no header,
// opens too.

import { isObject } from '../../src/base/is-object.ts';
import { OutriderError, SYSTEMS } from '../../src/index.ts';
import { readTraceText, type TraceEvent } from '../../src/trace/index.ts';
import type { Problem } from '../run/problems.ts';

export interface TraceFile {
  readonly title: string;
  readonly problem?: Problem | undefined;
  /** Where it was recorded. */
  readonly device?: string | undefined;
  /** The document of the request. A link holds a short one only. */
  readonly document?: string | undefined;
  /** Its tokens were drawn, at a temperature above 0: an exact system may write others than its baseline. */
  readonly sampled?: boolean | undefined;
  readonly events: readonly TraceEvent[];
  /** The same prompt decoded plainly, in the same session. */
  readonly plain?: readonly TraceEvent[] | undefined;
}

const HINT = 'Open a trace that this page saved or that `outrider generate --json` wrote.';

const bad = (message: string, hint = HINT): OutriderError => new OutriderError('bad-trace', message, hint);

interface Header {
  readonly title?: string;
  readonly problem?: Problem;
  readonly device?: string;
  readonly document?: string;
  readonly sampled?: boolean;
}

const readHeader = ({ title, device, document, sampled, problem }: Readonly<Record<string, unknown>>): Header => {
  const { question, answer, result } = (isObject(problem) ? problem : {}) as Partial<Problem>;
  const known = typeof question === 'string' && typeof result === 'string';
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof device === 'string' && { device }),
    ...(typeof document === 'string' && { document }),
    ...(sampled === true && { sampled }),
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

/** Leaves out the metrics of the command line's last event: the page computes them itself. */
const lean = (key: string, value: unknown): unknown => (key === 'metrics' ? undefined : value);

export const writeTrace = ({ events, plain = [], ...about }: TraceFile): string => {
  const header = { outrider: 'trace', version: 1, ...about };
  return `${[header, ...events, ...plain].map((line) => JSON.stringify(line, lean)).join('\n')}\n`;
};

/** Limit for an inflated trace. An address of 8 kB holds 100 kB; far more would be an attack on the tab's memory. */
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
      throw bad(`the trace in this link is longer than ${MOST_INFLATED / 2 ** 20} MB`, 'Ask for the trace as a file.');
    }
    pieces.push(read.value);
  }
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
};

/** Five significant digits of a time or a probability are more than the page shows. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;

const isCount = ({ type, spans }: { type?: string; spans?: readonly unknown[] }): boolean =>
  type === 'kernels' && spans?.length === 0;

/** Characters of a document that are worth their length in an address. */
const SHORT_DOCUMENT = 500;

/** Packs a trace into an address, without counts of dispatches, which are not worth their length. Kernel times stay. */
export const encodeTrace = async ({ document, ...file }: TraceFile): Promise<string> => {
  const short = document !== undefined && document.length <= SHORT_DOCUMENT;
  const lines = writeTrace({ ...file, ...(short && { document }) })
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
    throw bad('the trace in this link is incomplete', 'Copy the whole link, or ask for the trace as a file.');
  }
  return readTrace(text);
};
