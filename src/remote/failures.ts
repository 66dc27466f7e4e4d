// What a completions server refuses, and what may be wrong between it and us, as errors that say what to do. A failure
// that another try may cure is an `Interrupted` until the tries are used up.
import { OutriderError } from '../base/errors.ts';

/** A server does not do what it was asked. */
export class ServerRefusal extends OutriderError {
  constructor(message: string, hint: string) {
    super('bad-request', message, hint);
  }
}

/** `wait`: milliseconds that the server asks to be left alone. */
export class Interrupted extends Error {
  readonly hint: string;
  readonly wait: number;
  constructor(message: string, { hint = '', wait = 0, cause }: { hint?: string; wait?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.hint = hint;
    this.wait = wait;
  }
}

/** Seconds, or a date. */
export const retryAfter = (header: string | null, now = Date.now()): number => {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header.trim()) ? 1000 * Number(header) : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
};

const HINTS: Readonly<Record<number, string>> = {
  401: 'The server wants a key, or another one: `key` in remote(…), OUTRIDER_REMOTE_KEY on the command line.',
  403: 'The server wants a key, or another one: `key` in remote(…), OUTRIDER_REMOTE_KEY on the command line.',
  404: 'Check the address and the name of the model as the server has it (/v1/models).',
  429: 'The server has too much to do, or this key has used up its share: try again later.',
};

/** The server's own words: OpenAI's shape, FastAPI's, or plain text. */
const words = (body: string): string => {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    const told = (error as { message?: unknown } | undefined)?.message ?? message ?? detail ?? error;
    return typeof told === 'string' ? told : JSON.stringify(told ?? body);
  } catch {
    return /^\s*</.test(body) ? '' : body; // a proxy's page says nothing to a person who reads a sentence
  }
};

/** At most so much of what a server says is repeated. */
const LONGEST = 300;

/** An error of the server, from a status or from the stream; the key is cut out should the server repeat it. */
export const refusal = (
  status: number,
  body: string,
  {
    at,
    key,
    headers,
  }: { readonly at: string; readonly key: string | undefined; readonly headers: Headers | undefined },
): OutriderError | Interrupted => {
  const said = words(body).trim();
  const told = (key ? said.replaceAll(key, '[key]') : said).slice(0, LONGEST);
  const message = `the server answers ${status}${told && `: ${told}`}`;
  const hint = HINTS[status] ?? '';
  if (status === 408 || status === 429 || status >= 500)
    return new Interrupted(message, { hint, wait: retryAfter(headers?.get('retry-after') ?? null) });
  return new ServerRefusal(`${at}: ${message}`, hint);
};

/**
 * A page is not told why a request came to nothing; one that needs no permission tells whether the server is there. A
 * server that is, and allows no page of this origin to ask, will not do so at the next try either.
 */
export const unreachable = async (
  address: URL,
  cause: unknown,
  signal: AbortSignal,
): Promise<Interrupted | OutriderError> => {
  const { location } = globalThis;
  const code = (cause as { cause?: { code?: unknown } })?.cause?.code;
  const reason = typeof code === 'string' ? ` (${code})` : '';
  const hint = 'Check the address, and that the server runs and can be reached from here.';
  if (!location) return new Interrupted(`no connection${reason}`, { hint, cause });
  const there = await fetch(address.origin, { mode: 'no-cors', signal }).then(
    () => true,
    () => false,
  );
  if (!there) return new Interrupted('no connection', { hint, cause });
  return new OutriderError(
    'download-failed',
    `${address.href}: the server is there, but this page may not ask it (CORS)`,
    `It must answer with Access-Control-Allow-Origin for ${location.origin}, and allow the headers Content-Type and Authorization. If it redirects, give the address that it leads to.`,
    { cause },
  );
};
