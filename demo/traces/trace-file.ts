// A trace as a file and as a part of an address. The file is JSON lines: a header, the run's events, and behind its `done`
// the events of the plain run beside it, if there was one. What `outrider generate --json` prints has no header and opens too.
import { OutriderError, SYSTEMS } from '../../src/index.ts';
import type { TraceEvent, TraceEventType } from '../../src/trace/index.ts';
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

type Kind = 'string' | 'number' | 'array' | 'object';

/** What is read of an event without looking twice. A type that is not here is of a newer version, and is passed on. */
const FIELDS: { readonly [Type in TraceEventType]?: Readonly<Record<string, Kind>> } = {
  run: { version: 'number', system: 'string', knobs: 'object', prompt: 'array' },
  prefill: { by: 'string', rows: 'number', reused: 'number' },
  draft: { by: 'string', tokens: 'array', parents: 'array' },
  verify: { by: 'string', path: 'array', source: 'string' },
  'block-size': { size: 'number', candidates: 'array', tau: 'array', round_ms: 'array' },
  candidates: { by: 'string', tokens: 'array' },
  route: { step: 'number', by: 'string', to: 'string', threshold: 'number' },
  step: { step: 'number', by: 'string', tokens: 'number' },
  commit: { round: 'number', tokens: 'array', source: 'array' },
  kernels: { spans: 'array' },
  done: { finish_reason: 'string' },
};

const HINT = 'A trace is saved by this page, or written by `outrider generate --json`.';

const refuse = (message: string, hint = HINT): never => {
  throw new OutriderError('bad-request', message, hint);
};

const kindOf = (value: unknown): Kind | 'null' | 'boolean' => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Kind;
};

const parse = (line: string, number: number): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse(`line ${number} is not JSON: ${line.slice(0, 40)}`);
  }
  return kindOf(value) === 'object' ? (value as Record<string, unknown>) : refuse(`line ${number} is no trace event`);
};

const isNames = (value: unknown): boolean =>
  kindOf(value) === 'object' && Object.values(value as object).every((name) => typeof name === 'string');

const readEvent = (event: Record<string, unknown>, line: number): TraceEvent => {
  const { type, at } = event;
  if (typeof type !== 'string' || typeof at !== 'number') return refuse(`line ${line} is no trace event`);
  for (const [name, kind] of Object.entries(FIELDS[type as TraceEventType] ?? {}))
    if (kindOf(event[name]) !== kind) refuse(`line ${line}: a ${type} event's ${name} has to be of kind ${kind}`);
  if (type === 'run' && event.version !== 1)
    refuse(`line ${line}: version ${event.version} of traces is not known here`);
  const { models } = event;
  if (type === 'run' && models !== undefined && !isNames(models))
    refuse(`line ${line}: a run event's models have to be names by role`);
  return event as unknown as TraceEvent;
};

interface Header {
  readonly title?: string;
  readonly problem?: Problem;
  readonly device?: string;
}

const readHeader = (first: Record<string, unknown>): Header => {
  if (first.version !== 1) refuse(`line 1: version ${first.version} of trace files is not known here`);
  const { title, device, problem } = first;
  const { question, answer, result } = (kindOf(problem) === 'object' ? problem : {}) as Partial<Problem>;
  const known = typeof question === 'string' && typeof result === 'string';
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof device === 'string' && { device }),
    ...(known && { problem: { question, result, answer: typeof answer === 'string' ? answer : '' } }),
  };
};

export const readTrace = (text: string): TraceFile => {
  const lines = text
    .split('\n')
    .map((line, i) => ({ line: line.trim(), number: i + 1 }))
    .filter(({ line }) => line !== '');
  const parsed = lines.map(({ line, number }) => ({ value: parse(line, number), number }));
  const first = parsed[0]?.value ?? refuse('the file is empty');
  const header = first.outrider === 'trace' ? readHeader(first) : {};
  const events = parsed.slice(first.outrider === 'trace' ? 1 : 0).map(({ value, number }) => readEvent(value, number));
  const end = events.findIndex(({ type }) => type === 'done') + 1 || events.length;
  const [run, plain] = [events.slice(0, end), events.slice(end)];
  const begin = run.find(({ type }) => type === 'run');
  if (begin?.type !== 'run') return refuse('there is no run in it');
  if (plain.length > 0 && plain.every(({ type }) => type !== 'run')) refuse(`line ${end + 1}: nothing may follow done`);
  const title = SYSTEMS.find(({ id }) => id === begin.system)?.title ?? begin.system;
  return { title, ...header, events: run, ...(plain.length > 0 && { plain }) };
};

/** The page folds the metrics itself; the command line's last event has them. */
const lean = (key: string, value: unknown): unknown => (key === 'metrics' ? undefined : value);

export const writeTrace = ({ events, plain = [], ...about }: TraceFile): string => {
  const header = { outrider: 'trace', version: 1, ...about };
  return `${[header, ...events, ...plain].map((line) => JSON.stringify(line, lean)).join('\n')}\n`;
};

const through = (
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<ArrayBuffer> => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();

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
  const packed = new Uint8Array(await through(bytes, new CompressionStream('deflate-raw')));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
};

export const decodeTrace = async (address: string): Promise<TraceFile> => {
  let text: string;
  try {
    const binary = atob(address.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    text = new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
  } catch {
    return refuse('the trace in this address is not whole', 'Copy the whole address, or ask for the file.');
  }
  return readTrace(text);
};
