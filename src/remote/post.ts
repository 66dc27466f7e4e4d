// Sends one request to a server. Refusals and failures on the way become errors that say what to do; a failure that may
// pass is tried again, after longer and longer waits.
import { checkAborted, OutriderError } from '../base/errors.ts';
import { pause } from '../base/pause.ts';
import { Interrupted, refusal, ServerRefusal, unreachable } from './failures.ts';

export interface Timing {
  /** Before the second try; doubled before each further one. */
  readonly backoff: number;
  /** Until a server begins to write: it may have a queue and a long prompt before it. */
  readonly first: number;
  /** Without text for so long, a stream counts as broken. */
  readonly idle: number;
}

export const TIMING: Timing = { backoff: 500, first: 60_000, idle: 30_000 };
/** Tries without progress in between. */
const TRIES = 4;
/** Characters that are read of what a server says when it refuses; a sentence of it is repeated. */
const LONGEST_REFUSAL = 2 ** 16;
/** The longest wait for a server that says when to come back. */
const LONGEST_WAIT = 30_000;

export const failed = (address: URL, message: string, cause?: unknown): OutriderError => {
  const hint = cause instanceof Interrupted && cause.hint ? cause.hint : 'Check the address and the server.';
  return new OutriderError('download-failed', `${address.href}: ${message}`, hint, { cause });
};

/** A page is shown neither the status nor where it leads. */
const redirects = ({ type, status }: Response): boolean => type === 'opaqueredirect' || (status >= 300 && status < 400);

export const post = async (
  address: URL,
  key: string | undefined,
  body: object,
  signal: AbortSignal,
): Promise<Response> => {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
    signal,
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    redirect: 'manual', // the key and the text go to the address that was given, and nowhere else
  }).catch(async (cause) => {
    throw signal.aborted ? cause : await unreachable(address, cause, signal);
  });
  if (response.ok) return response;
  if (redirects(response))
    throw new ServerRefusal(`${address.href}: the server redirects`, 'Give the address that it leads to.');
  const told = await readText(response, LONGEST_REFUSAL);
  throw refusal(response.status, told, { at: address.href, key, headers: response.headers });
};

/** The text of an answer, of which no more is read than about so many characters. */
export const readText = async (response: Response, most: number): Promise<string> => {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (reader && text.length <= most) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    if (done) return text;
  }
  await reader?.cancel();
  return text;
};

/** The count of tries starts anew whenever `progress` grew. */
export const retrying = async <T>(
  address: URL,
  { backoff }: Timing,
  signal: AbortSignal,
  attempt: () => Promise<T>,
  progress = () => 0,
): Promise<T> => {
  for (let failures = 1, before = progress(); ; failures++) {
    try {
      checkAborted(signal);
      return await attempt();
    } catch (error) {
      checkAborted(signal);
      if (!(error instanceof Interrupted)) throw error;
      if (progress() > before) failures = 1;
      before = progress();
      if (error.wait > LONGEST_WAIT)
        throw failed(address, `${error.message}; it asks to wait ${Math.ceil(error.wait / 1000)} s`, error);
      if (failures === TRIES) throw failed(address, `${error.message}, ${TRIES} times`, error);
      // Spread, so that those who were refused together do not come back together.
      await pause(error.wait + backoff * 2 ** (failures - 1) * (0.5 + Math.random()), signal);
    }
  }
};
