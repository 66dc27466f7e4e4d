// Errors as OpenAI's client throws them, with `status`, `type`, `code` and `param`.
import { OutriderError, toFault } from '../base/errors.ts';
import { overflow } from './context-window.ts';

/** An error as OpenAI's server writes it. */
export interface ErrorBody {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'server_error' | 'aborted';
  readonly param: string | null;
  /** OpenAI's where it has one (`context_length_exceeded`), otherwise ours (errors.ts). */
  readonly code: string | null;
}

/** An error as OpenAI's client throws it. */
export class APIError extends Error {
  override readonly name = 'APIError';
  /** As a server would answer; undefined for an abort, which no server answers. */
  readonly status: number | undefined;
  readonly error: ErrorBody;

  constructor(status: number | undefined, error: ErrorBody, options?: ErrorOptions) {
    super(error.message, options);
    this.status = status;
    this.error = error;
  }

  get type(): ErrorBody['type'] {
    return this.error.type;
  }

  get param(): string | null {
    return this.error.param;
  }

  get code(): string | null {
    return this.error.code;
  }
}

export const invalid = (param: string, message: string, code: string | null = null): never => {
  throw new APIError(400, { message, type: 'invalid_request_error', param, code });
};

export const aborted = (): APIError =>
  new APIError(undefined, { message: 'Request was aborted.', type: 'aborted', param: null, code: null });

/** job.ts states in our words what is out of range. */
const PARAMS: Readonly<Record<string, string>> = {
  maxTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'outrider.top_k',
  minP: 'outrider.min_p',
  logprobs: 'top_logprobs',
  temperature: 'temperature',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logitBias: 'logit_bias',
  repetitionPenalty: 'outrider.repetition_penalty',
  minTokens: 'outrider.min_tokens',
  badWords: 'outrider.bad_words',
  seed: 'seed',
};

/** Of refusals that begin with other words. */
const BEGINNINGS: readonly (readonly [start: string, param: string, code: string | null])[] = [
  ['json_schema', 'response_format', null],
  ['tools', 'tools', null],
  ['reasoning: ', 'reasoning_effort', 'unsupported_parameter'],
  ['reasoning.budget', 'outrider.reasoning_budget', null],
  ['reasoning.enabled', 'outrider.reasoning', null],
];

/** The same in OpenAI's words, and its parameter. */
const inTheirWords = (
  text: string,
): { readonly message: string; readonly param: string | null; readonly code?: string | null } => {
  const known = BEGINNINGS.find(([start]) => text.startsWith(start));
  if (known) return { message: text, param: known[1], code: known[2] };
  const [, name = '', rest = ''] = /^(\w+)((?:\[\w+\])?(?: must be |:? is |: ).*)$/s.exec(text) ?? [];
  const param = PARAMS[name] ?? null;
  return { message: param ? `${param}${rest}` : text, param };
};

export const toApiError = (cause: unknown): APIError => {
  if (cause instanceof APIError) return cause;
  const { code, message, hint } = toFault(cause);
  if (code === 'aborted') return aborted();
  const text = hint === '' ? message : `${message}. ${hint}`;
  if (!(cause instanceof OutriderError) || (code !== 'bad-request' && code !== 'bad-constraint'))
    return new APIError(500, { message: text, type: 'server_error', param: null, code }, { cause });
  const { message: said, param, code: theirs = null } = inTheirWords(text);
  const known = overflow(cause)
    ? ({ param: 'messages', code: 'context_length_exceeded' } as const)
    : { param, code: theirs };
  return new APIError(400, { message: said, type: 'invalid_request_error', ...known }, { cause });
};
