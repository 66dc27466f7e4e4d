// Reads OpenAI's parameters as ours. A parameter that the engine does not support, or that OpenAI does not have, is an
// error that names it: a penalty or a misspelt limit that was silently ignored would give a wrong answer.
import type { RunRequest } from '../engine/request.ts';
import { stated } from './completion.ts';
import { invalid } from './openai-error.ts';
import { readChatParts, readToolMessage } from './openai-tools.ts';
import type { ChatCompletionMessage, ChatCompletionParams, CompletionParams, OpenAIExtras } from './openai-types.ts';

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

const checkNames = (params: ChatCompletionParams | CompletionParams): void => {
  const known = 'messages' in params ? OF_CHAT : OF_TEXT;
  for (const [name, value] of Object.entries(stated(params))) {
    const harmless = HARMLESS[name];
    if (harmless && !harmless(value)) invalid(name, `${name} is not supported by this engine`, 'unsupported_parameter');
    if (harmless || known.has(name)) continue;
    const hint = EXTRAS.includes(name) ? `: it belongs under outrider, as { outrider: { ${name} } }` : '';
    invalid(name, `Unknown parameter: '${name}'${hint}`, 'unknown_parameter');
  }
  for (const name of Object.keys(params.outrider ?? {}))
    if (!EXTRAS.includes(name))
      invalid(`outrider.${name}`, `Unknown parameter: 'outrider.${name}'`, 'unknown_parameter');
  if (params.stream_options && !params.stream)
    invalid('stream_options', "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
};

const textOf = ({ content, role, tool_calls }: ChatCompletionMessage, i: number): string => {
  if (typeof content === 'string') return content;
  if ((content ?? null) === null && role === 'assistant' && tool_calls?.length) return '';
  if (!Array.isArray(content)) return invalid(`messages[${i}].content`, `messages[${i}].content must be text`);
  return content
    .map((part) =>
      part?.type === 'text' ? part.text : invalid(`messages[${i}].content`, `the model reads text, not ${part?.type}`),
    )
    .join('');
};

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool'];

const conversation = (messages: readonly ChatCompletionMessage[]): RunRequest['prompt'] => {
  if (!Array.isArray(messages) || messages.length === 0) invalid('messages', 'messages must be a list, and not empty');
  return {
    messages: messages.map((message, i) => {
      if (!ROLES.includes(message.role))
        invalid(`messages[${i}].role`, `messages[${i}].role must be one of ${ROLES.join(', ')}, not ${message.role}`);
      const role = message.role === 'developer' ? 'system' : message.role;
      const { reasoning_content } = message;
      return {
        role,
        content: textOf(message, i),
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
  if (typeof (logprobs ?? false) !== 'boolean') invalid('logprobs', 'logprobs must be true or false; see top_logprobs');
  if (top_logprobs && !logprobs) invalid('top_logprobs', 'top_logprobs needs logprobs: true');
  return logprobs ? (top_logprobs ?? 0) : undefined;
};

const readStop = (stop: ChatCompletionParams['stop']): readonly string[] | undefined => {
  const list = [stop ?? []].flat();
  if (!list.every((text) => typeof text === 'string')) invalid('stop', 'stop must be a text or a list of texts');
  return list.length > 0 ? list : undefined;
};

/** The run of choice 0; `extras` as the caller of `openai()` set them, then as the request did. */
export const toRunRequest = (
  params: ChatCompletionParams | CompletionParams,
  { system, knobs, top_k, min_p, repetition_penalty, min_tokens, bad_words, reasoning, reasoning_budget }: OpenAIExtras,
): RunRequest => {
  checkNames(params);
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
      seed: given(params.seed),
      stop: readStop(params.stop),
      logprobs: readLogprobs(params),
      ...('messages' in params ? readChatParts(params, { reasoning, reasoning_budget }) : null),
    }),
  };
};

/** With an echo: the prompt's own scores where scores are asked for, and its text where only its tokens are known. */
const readEcho = (params: ChatCompletionParams | CompletionParams): Pick<RunRequest, 'promptLogprobs'> => {
  if ('messages' in params || !params.echo) return {};
  if (params.echo !== true) invalid('echo', 'echo must be true or false');
  const scored = typeof params.logprobs === 'number' || typeof params.prompt !== 'string';
  return scored ? { promptLogprobs: params.logprobs ?? 0 } : {};
};

const rawPrompt = ({ prompt }: CompletionParams): Pick<RunRequest, 'prompt'> => {
  if (typeof prompt === 'string') return { prompt: { text: prompt } };
  if (Array.isArray(prompt) && prompt.every((token) => typeof token === 'number'))
    return { prompt: { tokens: prompt } };
  return invalid('prompt', 'prompt must be one text or one list of token ids');
};

/** Independent choices need seeds of their own; without one the engine draws a seed for each. */
export const nthChoice = (request: RunRequest, index: number): RunRequest =>
  request.seed === undefined || index === 0 ? request : { ...request, seed: (request.seed + index) % 2 ** 32 };
