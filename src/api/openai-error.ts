// Errors as OpenAI's client throws them, with `status`, `type`, `code` and `param`.
import { OutriderError, toFault } from '../base/errors.ts';
import { shown } from '../base/shown.ts';
import type { ChatCompletionParams, CompletionParams, OpenAIExtras } from './openai-types.ts';

/** An error as OpenAI's server writes it. */
export interface ErrorBody {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'server_error' | 'aborted';
  readonly param: string | null;
  /** Of a wrong request OpenAI's (`context_length_exceeded`), null where it has none; of any other failure ours (errors.ts). */
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

export const invalid = (param: string | null, message: string, code: string | null = null): never => {
  throw new APIError(400, { message, type: 'invalid_request_error', param, code });
};

/** A parameter that may be absent or null, and otherwise has to be as `what` says. */
export const checkParam = (param: string, value: unknown, fits: boolean, what: string): void => {
  if ((value ?? null) !== null && !fits) invalid(param, `${param} must be ${what}, not ${shown(value)}`);
};

export const aborted = (): APIError =>
  new APIError(undefined, { message: 'Request was aborted.', type: 'aborted', param: null, code: null });

/** job.ts states in our words what is out of range. */
const PARAMS: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'outrider.top_k',
  minP: 'outrider.min_p',
  temperature: 'temperature',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logitBias: 'logit_bias',
  repetitionPenalty: 'outrider.repetition_penalty',
  minTokens: 'outrider.min_tokens',
  badWords: 'outrider.bad_words',
  seed: 'seed',
  stop: 'stop',
  system: 'outrider.system',
  knobs: 'outrider.knobs',
  'reasoning.enabled': 'outrider.reasoning',
  'reasoning.budget': 'outrider.reasoning_budget',
};

/** Fields of ours that are not always named by the same parameter. */
const paramsOf = (params: ChatCompletionParams | CompletionParams): Readonly<Record<string, string>> => {
  if (!('messages' in params))
    return { ...PARAMS, prompt: 'prompt', logprobs: 'logprobs', promptLogprobs: 'logprobs', maxTokens: 'max_tokens' };
  const maxTokens = (params.max_completion_tokens ?? null) === null ? 'max_tokens' : 'max_completion_tokens';
  return { ...PARAMS, prompt: 'messages', logprobs: 'top_logprobs', maxTokens };
};

/** Whose error it is. */
interface Asked {
  readonly params: ChatCompletionParams | CompletionParams;
  /** As they held for it. */
  readonly extras: OpenAIExtras;
}

/** The parameter that asked for a field of ours which the model or the system cannot take. */
const unsupportedParam = (field: string, asked: Asked | null): string | null => {
  if (field === 'constraint') return 'response_format';
  const { tool_choice: choice = 'auto' } = asked && 'messages' in asked.params ? asked.params : {};
  if (field === 'tools') return (choice ?? 'auto') === 'auto' ? 'tools' : 'tool_choice';
  if (field !== 'reasoning') return PARAMS[field] ?? null;
  const { reasoning, reasoning_budget: budget } = asked?.extras ?? {};
  if (budget !== undefined) return 'outrider.reasoning_budget';
  return reasoning === undefined ? 'reasoning_effort' : 'outrider.reasoning';
};

const unsupported = (field: string, text: string, asked: Asked | null): Pick<ErrorBody, 'message' | 'param'> => {
  const param = unsupportedParam(field, asked);
  return { message: text.replace(`does not take ${field}`, `does not take ${param}`), param };
};

/** Of refusals that begin with other words; `prompt` is messages in a chat. */
const BEGINNINGS: readonly (readonly [start: string, param: string])[] = [
  ['the prompt is empty', 'prompt'],
  ['token ', 'prompt'],
  ['there is no system', 'outrider.system'],
  ['json_schema', 'response_format'],
  ['tools', 'tools'],
];

/** The same in OpenAI's words, and its parameter. */
const inTheirWords = (
  text: string,
  params: Readonly<Record<string, string>>,
): { readonly message: string; readonly param: string | null } => {
  const known = BEGINNINGS.find(([start]) => text.startsWith(start));
  if (known) return { message: text, param: params[known[1]] ?? known[1] };
  const [, name = '', rest = ''] = /^([\w.]+)((?:\[\w+\])?(?: must be |:? is |: ).*)$/s.exec(text) ?? [];
  const param = (Object.hasOwn(params, name) && params[name]) || null;
  return { message: param ? `${param}${rest}` : text, param };
};

/** `asked`: its parameters are named as it names them. */
export const toApiError = (cause: unknown, asked: Asked | null = null): APIError => {
  if (cause instanceof APIError) return cause;
  const { code, message, hint } = toFault(cause);
  const text = hint === '' ? message : `${message}. ${hint}`;
  if (!(cause instanceof OutriderError) || (code !== 'bad-request' && code !== 'bad-constraint'))
    return new APIError(500, { message: text, type: 'server_error', param: null, code }, { cause });
  const params = asked ? paramsOf(asked.params) : PARAMS;
  const said = cause.overflow
    ? { message: text, param: params.prompt ?? 'prompt', code: 'context_length_exceeded' }
    : cause.unsupported
      ? { ...unsupported(cause.unsupported, text, asked), code: 'unsupported_parameter' }
      : cause.field
        ? { message: text, param: PARAMS[cause.field] ?? null, code: null }
        : { ...inTheirWords(text, params), code: null };
  return new APIError(400, { type: 'invalid_request_error', ...said }, { cause });
};
