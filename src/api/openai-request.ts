// OpenAI's parameters as ours. What the engine cannot do is refused by name: a penalty or a tool that is silently
// ignored would be a wrong answer.
import type { RunRequest } from '../request.ts';
import { stated } from './answer.ts';
import { refuse } from './openai-error.ts';
import type { ChatCompletionMessage, ChatCompletionParams, CompletionParams, OpenAIExtras } from './openai-types.ts';

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** By parameter: what may be said without asking for anything. */
const HARMLESS: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: isEmpty,
  presence_penalty: isEmpty,
  logit_bias: isEmpty,
  tools: isEmpty,
  functions: isEmpty,
  tool_choice: (value) => isEmpty(value) || value === 'none' || value === 'auto',
  response_format: (value) => isEmpty(value) || (value as { type?: unknown }).type === 'text',
  audio: isEmpty,
  modalities: (value) => isEmpty(value) || (Array.isArray(value) && value.join() === 'text'),
  echo: isEmpty,
  suffix: (value) => isEmpty(value) || value === '',
  best_of: (value) => isEmpty(value) || value === 1,
};

const textOf = ({ content }: ChatCompletionMessage, i: number): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return refuse(`messages[${i}].content`, `messages[${i}].content must be text`);
  return content
    .map((part) =>
      part?.type === 'text' ? part.text : refuse(`messages[${i}].content`, `the model reads text, not ${part?.type}`),
    )
    .join('');
};

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant'];

const conversation = (messages: readonly ChatCompletionMessage[]): RunRequest['prompt'] => {
  if (!Array.isArray(messages) || messages.length === 0) refuse('messages', 'messages must be a list, and not empty');
  return {
    messages: messages.map((message, i) => {
      if (!ROLES.includes(message.role))
        refuse(`messages[${i}].role`, `messages[${i}].role must be one of ${ROLES.join(', ')}, not ${message.role}`);
      return { role: message.role === 'developer' ? 'system' : message.role, content: textOf(message, i) };
    }),
  };
};

/** A parameter that may be null, and is then as good as absent. */
const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const readLogprobs = (params: ChatCompletionParams | CompletionParams): number | undefined => {
  if (!('messages' in params)) return given(params.logprobs);
  const { logprobs, top_logprobs } = params;
  if (top_logprobs && !logprobs) refuse('top_logprobs', 'top_logprobs needs logprobs: true');
  return logprobs ? (top_logprobs ?? 0) : undefined;
};

/** The run of choice 0; `extras` as the caller of `openai()` set them, then as the request did. */
export const toRunRequest = (
  params: ChatCompletionParams | CompletionParams,
  { system, knobs, top_k, min_p }: OpenAIExtras,
): RunRequest => {
  for (const [name, harmless] of Object.entries(HARMLESS)) {
    const value = (params as unknown as Readonly<Record<string, unknown>>)[name];
    if (!harmless(value)) refuse(name, `${name} is not supported by this engine`, 'unsupported_parameter');
  }
  const { prompt } = 'messages' in params ? { prompt: conversation(params.messages) } : rawPrompt(params);
  return {
    prompt,
    temperature: params.temperature ?? 1,
    ...stated({
      system,
      knobs,
      topK: top_k,
      minP: min_p,
      topP: given(params.top_p),
      maxTokens: given(('max_completion_tokens' in params && params.max_completion_tokens) || params.max_tokens),
      seed: given(params.seed),
      stop: params.stop ? [params.stop].flat() : undefined,
      logprobs: readLogprobs(params),
    }),
  };
};

const rawPrompt = ({ prompt }: CompletionParams): Pick<RunRequest, 'prompt'> => {
  if (typeof prompt === 'string') return { prompt: { text: prompt } };
  if (Array.isArray(prompt) && prompt.every((token) => typeof token === 'number'))
    return { prompt: { tokens: prompt } };
  return refuse('prompt', 'prompt must be one text or one list of token ids');
};

/** Independent choices need seeds of their own; without one the engine draws a seed for each. */
export const nthChoice = (request: RunRequest, index: number): RunRequest =>
  request.seed === undefined || index === 0 ? request : { ...request, seed: (request.seed + index) % 2 ** 32 };
