// Reads OpenAI's parameters as ours. A parameter that the engine does not support, or that OpenAI does not have, is an
// error that names it: a penalty or a misspelt limit that was silently ignored would give a wrong answer.
import { isObject } from '../base/is-object.ts';
import { shown } from '../base/shown.ts';
import type { RunRequest } from '../engine/request.ts';
import { contentFault, contentText } from '../text/message-content.ts';
import { seedOf, stated } from './completion.ts';
import { checkParam, invalid } from './openai-error.ts';
import { readChatParts, readToolMessage } from './openai-tools.ts';
import type { ChatCompletionMessage, ChatCompletionParams, CompletionParams, OpenAIExtras } from './openai-types.ts';

type Asks = 'messages' | 'prompt';
type Shared = Pick<ChatCompletionParams, 'model' | 'stream' | 'stream_options'>;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Unsupported parameters, and the values of each that ask for nothing. */
const HARMLESS: Readonly<Record<string, (value: unknown) => boolean>> = {
  functions: isEmpty,
  function_call: (value) => isEmpty(value) || value === 'none' || value === 'auto',
  audio: isEmpty,
  modalities: (value) => isEmpty(value) || (Array.isArray(value) && value.join() === 'text'),
  suffix: (value) => isEmpty(value) || value === '',
  prediction: isEmpty,
  verbosity: (value) => isEmpty(value) || value === 'medium',
  web_search_options: (value) => value === undefined || value === null,
  moderation: isEmpty,
  store: isEmpty,
};

/** What both interfaces take. */
const SHARED =
  'model max_tokens temperature top_p n seed stop stream stream_options signal outrider logprobs presence_penalty frequency_penalty logit_bias'.split(
    ' ',
  );

/**
 * About a server's accounts, queues and caches, which an engine on the user's device has not: nothing is asked of the
 * answer.
 */
const ABOUT_SERVERS =
  'user metadata service_tier safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options'.split(
    ' ',
  );

const OF_CHAT = new Set([
  ...SHARED,
  ...ABOUT_SERVERS,
  'messages',
  'max_completion_tokens',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
]);
const OF_TEXT = new Set([...SHARED, ...ABOUT_SERVERS, 'prompt', 'echo', 'best_of']);

const EXTRAS: readonly string[] = [
  'system',
  'knobs',
  'top_k',
  'min_p',
  'repetition_penalty',
  'min_tokens',
  'bad_words',
  'reasoning',
  'reasoning_budget',
  'onEvent',
];

/** Some clients write a list of prompts, though they have one. */
const single = ({ prompt }: { readonly prompt?: unknown }): object =>
  Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] !== 'number' ? { prompt: prompt[0] } : {};

/** The parameters that are given. A chat is asked by its `messages`, a text by its `prompt`. */
export const readParams = <P extends ChatCompletionParams | CompletionParams>(given: P, asks: Asks): P => {
  if (!isObject(given)) return invalid(null, `the parameters must be an object with ${asks}, not ${shown(given)}`);
  const params = stated(given);
  const other: Asks = asks === 'messages' ? 'prompt' : 'messages';
  if (other in params) invalid(other, `Unknown parameter: '${other}'`, 'unknown_parameter');
  if (!(asks in params)) invalid(asks, `Missing required parameter: '${asks}'`, 'missing_required_parameter');
  return { ...params, ...single(params) } as P;
};

const checkNames = (params: ChatCompletionParams | CompletionParams, extras: OpenAIExtras): void => {
  const known = 'messages' in params ? OF_CHAT : OF_TEXT;
  for (const [name, value] of Object.entries(params)) {
    const harmless = Object.hasOwn(HARMLESS, name) ? HARMLESS[name] : undefined;
    if (harmless && !harmless(value)) invalid(name, `${name} is not supported by this engine`, 'unsupported_parameter');
    if (harmless || known.has(name)) continue;
    const hint = EXTRAS.includes(name) ? `: it belongs under outrider, as { outrider: { ${name} } }` : '';
    invalid(name, `Unknown parameter: '${name}'${hint}`, 'unknown_parameter');
  }
  checkParam('outrider', params.outrider, isObject(params.outrider), 'an object');
  for (const name of Object.keys(extras))
    if (!EXTRAS.includes(name))
      invalid(`outrider.${name}`, `Unknown parameter: 'outrider.${name}'`, 'unknown_parameter');
};

/** Of what is not handed on to the engine, which checks the rest. */
const checkOwn = ({ model, stream, stream_options: usage }: Shared, { onEvent }: OpenAIExtras): void => {
  checkParam('model', model, typeof model === 'string', 'text');
  checkParam('stream', stream, typeof stream === 'boolean', 'true or false');
  checkParam('stream_options', usage, isObject(usage), 'an object');
  const isFlag = typeof usage?.include_usage === 'boolean';
  checkParam('stream_options.include_usage', usage?.include_usage, isFlag, 'true or false');
  checkParam('outrider.onEvent', onEvent, typeof onEvent === 'function', 'a function');
  if (usage && !stream)
    invalid('stream_options', "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
};

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool'];

const checkMessage = (message: unknown, at: string): void => {
  const own = isObject(message)
    ? message
    : invalid(at, `${at} must be an object { role, content }, not ${shown(message)}`);
  const { role, name, reasoning_content: reasoning } = own;
  if (!ROLES.includes(role)) invalid(`${at}.role`, `${at}.role must be one of ${ROLES.join(', ')}, not ${shown(role)}`);
  const fault = contentFault(own, `${at}.content`);
  if (fault) invalid(`${at}.content`, fault);
  checkParam(`${at}.name`, name, typeof name === 'string', 'text');
  checkParam(`${at}.reasoning_content`, reasoning, typeof reasoning === 'string', 'text');
};

const conversation = (messages: readonly ChatCompletionMessage[]): RunRequest['prompt'] => {
  if (!Array.isArray(messages) || messages.length === 0) invalid('messages', 'messages must be a list, and not empty');
  for (const [i, message] of messages.entries()) checkMessage(message, `messages[${i}]`);
  return {
    messages: messages.map((message, i) => {
      const role = message.role === 'developer' ? 'system' : message.role;
      const { reasoning_content } = message;
      return {
        role,
        content: contentText(message),
        ...(reasoning_content && { reasoning_content }),
        ...readToolMessage(messages, i),
      };
    }),
  };
};

/** A parameter that may be null, and is then as good as absent. */
const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const readLogprobs = (params: ChatCompletionParams | CompletionParams): number | undefined => {
  if (!('messages' in params)) return given(params.logprobs);
  const { logprobs, top_logprobs } = params;
  checkParam('logprobs', logprobs, typeof logprobs === 'boolean', 'true or false (top_logprobs says how many)');
  if ((top_logprobs ?? 0) !== 0 && !logprobs) invalid('top_logprobs', 'top_logprobs needs logprobs: true');
  return logprobs ? (top_logprobs ?? 0) : undefined;
};

const readStop = (stop: ChatCompletionParams['stop']): readonly string[] | undefined => {
  const list = [stop ?? []].flat();
  checkParam(
    'stop',
    stop,
    list.every((text) => typeof text === 'string'),
    'a text or a list of texts',
  );
  return list.length > 0 ? list : undefined;
};

/** The run of choice 0; `extras` as the caller of `openai()` set them, then as the request did. */
export const toRunRequest = (params: ChatCompletionParams | CompletionParams, extras: OpenAIExtras): RunRequest => {
  checkNames(params, extras);
  checkOwn(params, extras);
  const { system, knobs, top_k, min_p, repetition_penalty, min_tokens, bad_words, reasoning, reasoning_budget } =
    extras;
  const { prompt } = 'messages' in params ? { prompt: conversation(params.messages) } : rawPrompt(params);
  return {
    prompt,
    temperature: params.temperature ?? 1,
    ...stated({
      system,
      knobs,
      topK: top_k,
      minP: min_p,
      repetitionPenalty: repetition_penalty,
      minTokens: min_tokens,
      badWords: bad_words,
      presencePenalty: given(params.presence_penalty),
      frequencyPenalty: given(params.frequency_penalty),
      logitBias: given(params.logit_bias),
      ...readEcho(params),
      topP: given(params.top_p),
      maxTokens: given(('max_completion_tokens' in params ? params.max_completion_tokens : null) ?? params.max_tokens),
      seed: seedOf(params.seed),
      stop: readStop(params.stop),
      logprobs: readLogprobs(params),
      ...('messages' in params ? readChatParts(params, { reasoning, reasoning_budget }) : null),
    }),
  };
};

/**
 * With an echo: the prompt's own scores where scores are asked for, and its text where only its tokens are known. A run
 * that scores its prompt may write nothing after it.
 */
const readEcho = (params: ChatCompletionParams | CompletionParams): Pick<RunRequest, 'promptLogprobs'> => {
  if ('messages' in params) return {};
  checkParam('echo', params.echo, typeof params.echo === 'boolean', 'true or false');
  if (!params.echo) return {};
  const scored = (params.logprobs ?? null) !== null || typeof params.prompt !== 'string' || params.max_tokens === 0;
  return scored ? { promptLogprobs: params.logprobs ?? 0 } : {};
};

const rawPrompt = ({ prompt }: CompletionParams): Pick<RunRequest, 'prompt'> => {
  if (typeof prompt === 'string') return { prompt: { text: prompt } };
  if (Array.isArray(prompt) && Array.from(prompt).every((token) => typeof token === 'number'))
    return { prompt: { tokens: prompt as readonly number[] } };
  return invalid('prompt', `prompt must be one text or one list of token ids, not ${shown(prompt)}`);
};

/** Independent choices need seeds of their own; without one the engine draws a seed for each. */
export const nthChoice = (request: RunRequest, index: number): RunRequest =>
  request.seed === undefined || index === 0 ? request : { ...request, seed: (request.seed + index) % 2 ** 32 };
