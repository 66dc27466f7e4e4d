// Errors at the edges are data: a code the page can act on, a message that names what is wrong, a hint that says
// what to do. They cross a worker boundary and the command line unchanged.

/** What went wrong, for programs. The guide (troubleshooting.md) says what to do about each code. */
export type ErrorCode =
  | 'no-webgpu'
  | 'out-of-memory'
  | 'device-lost'
  | 'download-failed'
  | 'bad-checkpoint'
  | 'bad-request'
  | 'bad-trace'
  | 'bad-constraint'
  | 'vocabulary-mismatch'
  | 'aborted'
  | 'bug';

/** What would fit where memory did not suffice, for a button: a cache at f16 or q8, or an answer of at most so many tokens. */
export interface Remedy {
  readonly cache?: 'f16' | 'q8';
  readonly maxTokens?: number;
}

/** How many tokens a prompt and its answer would take, and how many there is room for. */
export interface Overflow {
  readonly requested: number;
  readonly context: number;
}

/** What a program can go by, in addition to the code. */
export interface Facts {
  readonly remedy?: Remedy;
  /** Of a prompt that does not fit the context together with its answer. */
  readonly overflow?: Overflow;
  /** The field of the request that the loaded model, or the system, cannot take. */
  readonly unsupported?: string;
  /** Of a wrong setting of a system, whose message begins with neither: the field of the request. */
  readonly field?: 'knobs';
}

/** What crosses `postMessage` and prints as `{"error": …}`. */
export interface Fault extends Facts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** Every failure of this library. */
export class OutriderError extends Error {
  override readonly name = 'OutriderError';
  readonly code: ErrorCode;
  readonly hint: string;
  // Without `declare` each would be set twice: to undefined, and then by the constructor.
  declare readonly remedy: Remedy | undefined;
  declare readonly overflow: Overflow | undefined;
  declare readonly unsupported: string | undefined;
  declare readonly field: 'knobs' | undefined;

  constructor(code: ErrorCode, message: string, hint = '', options?: ErrorOptions & Facts) {
    super(message, options);
    this.code = code;
    this.hint = hint;
    this.remedy = options?.remedy;
    this.overflow = options?.overflow;
    this.unsupported = options?.unsupported;
    this.field = options?.field;
  }
}

/** Anything thrown, as data. An unknown error is our own bug and says so. */
export const toFault = (error: unknown): Fault => {
  if (error instanceof OutriderError) {
    const { code, message, hint, remedy, overflow, unsupported, field } = error;
    return {
      code,
      message,
      hint,
      ...(remedy && { remedy }),
      ...(overflow && { overflow }),
      ...(unsupported && { unsupported }),
      ...(field && { field }),
    };
  }
  if (error instanceof DOMException && error.name === 'AbortError')
    return { code: 'aborted', message: 'aborted', hint: '' };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'bug', message, hint: 'This is a bug in Outrider: please report it with the message above.' };
};

/** The error that a fault was. */
export const errorOf = ({ code, message, hint, ...facts }: Fault): OutriderError =>
  new OutriderError(code, message, hint, facts);

/**
 * A fault as a trace may carry it. Traces are shared, and an address may lie inside a private network, so addresses
 * are cut out; the error that the caller gets has them in full.
 */
export const sharedFault = (error: unknown): Fault => {
  const { code, message, hint } = toFault(error);
  const without = (text: string): string =>
    text.replaceAll(/\bhttps?:\/\/[^\s"'<>]*?(?=[:,;.!?]?(?:\s|$)|["'<>])/g, '[address]');
  return { code, message: without(message), hint: without(hint) };
};

/**
 * Throws when the signal has fired: the OutriderError it was aborted with, else `aborted`. Call it between awaits of any
 * long work.
 */
export const checkAborted = (signal: AbortSignal | undefined): void => {
  if (!signal?.aborted) return;
  if (signal.reason instanceof OutriderError) throw signal.reason;
  throw new OutriderError('aborted', 'aborted by the caller');
};

/**
 * What work that goes on by itself gives; throws the signal's reason where that fires first. When the work has ended, no
 * listener is left on the signal, which may outlive many waits.
 */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
