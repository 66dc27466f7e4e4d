// Checks the shape of a request. Callers may write JavaScript or pass on JSON, so its types are not certain: every
// field is checked before any is used, and an unknown field is an error instead of being ignored.

import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import { contentFault } from '../text/message-content.ts';
import type { RunRequest } from './request.ts';

interface Kind {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

const number: Kind = { is: (value) => typeof value === 'number', what: 'a number' };
const text: Kind = { is: (value) => typeof value === 'string', what: 'text' };
const flag: Kind = { is: (value) => typeof value === 'boolean', what: 'true or false' };
/** An empty one would end every answer before it begins. */
const stops: Kind = {
  is: (value) => Array.isArray(value) && value.every((stop) => text.is(stop) && stop !== ''),
  what: "a list of texts that are not empty, as ['\\n\\n']",
};
const object: Kind = { is: isObject, what: 'an object' };
const isJson = (value: unknown): boolean => {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
};
/** What templates write, and what goes to a worker. */
const data: Kind = { is: (value) => isObject(value) && isJson(value), what: 'an object that can be written as JSON' };
const count: Kind = {
  is: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  what: 'a whole number from 0 on',
};

const FIELDS: { readonly [Name in keyof Required<RunRequest>]: Kind } = {
  prompt: object,
  system: text,
  knobs: object,
  maxTokens: number,
  temperature: number,
  topK: number,
  topP: number,
  minP: number,
  seed: number,
  stop: stops,
  repetitionPenalty: number,
  presencePenalty: number,
  frequencyPenalty: number,
  logitBias: object,
  minTokens: number,
  badWords: { is: Array.isArray, what: 'a list of texts or of lists of token ids' },
  constraint: object,
  tools: object,
  reasoning: object,
  document: text,
  ignoreEos: flag,
  logprobs: number,
  promptLogprobs: number,
  profile: flag,
  fresh: flag,
};

const PROMPT_FIELDS: readonly string[] = ['messages', 'begin', 'text', 'plain', 'tokens'];
const WAYS = '{ messages }, { text } or { tokens }';

const wrong = (name: string, what: string, value: unknown): Error =>
  refuse(`${name} must be ${what}, not ${shown(value)}`);

const isCall = (value: unknown): boolean => isObject(value) && isObject(value.function) && text.is(value.function.name);

/** What a message may have in addition to its role and content; templates may read further fields. */
const ALSO_SAID: Readonly<Record<string, Kind>> = {
  name: text,
  tool_call_id: text,
  reasoning_content: text,
  tool_calls: {
    is: (value) => Array.isArray(value) && value.every(isCall),
    what: 'a list of { function: { name, arguments } }',
  },
};

const checkMessages = (messages: unknown): void => {
  if (!Array.isArray(messages)) throw wrong('prompt.messages', 'a list of { role, content }', messages);
  if (messages.length === 0)
    throw refuse('prompt.messages is empty', "Give at least one message, as { role: 'user', content: 'Hello' }.");
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) throw wrong(`prompt.messages[${i}]`, 'an object { role, content }', message);
    if (!text.is(message.role)) throw wrong(`prompt.messages[${i}].role`, text.what, message.role);
    const fault = contentFault(message, `prompt.messages[${i}].content`);
    if (fault) throw refuse(fault);
    for (const [name, kind] of Object.entries(ALSO_SAID)) {
      const value = message[name] ?? undefined; // programs store null where they have nothing
      if (value !== undefined && !kind.is(value)) throw wrong(`prompt.messages[${i}].${name}`, kind.what, value);
    }
    if (!data.is(message)) throw wrong(`prompt.messages[${i}]`, data.what, message);
  }
};

const checkPrompt = (prompt: unknown): void => {
  if (prompt === undefined) throw refuse('the request has no prompt', `Give prompt: ${WAYS}.`);
  if (!isObject(prompt))
    throw refuse(
      `prompt must be ${WAYS}, not ${shown(prompt)}`,
      'A text is { text }, a list of messages { messages }.',
    );
  const { messages, text: raw, tokens, begin } = prompt;
  const given = [messages, raw, tokens].filter((value) => value !== undefined).length;
  if (given !== 1) throw refuse(`prompt must be one of ${WAYS}; ${given} of them are given`, 'Give one of them.');
  for (const field of Object.keys(prompt))
    if (!PROMPT_FIELDS.includes(field))
      throw refuse(`prompt has no field "${field}"`, `Its fields are: ${PROMPT_FIELDS.join(', ')}.`);
  if (messages !== undefined) checkMessages(messages);
  if (begin !== undefined && !text.is(begin)) throw wrong('prompt.begin', text.what, begin);
  if (begin !== undefined && messages === undefined)
    throw refuse('prompt.begin belongs to messages', 'Put the beginning of the answer at the end of the text.');
  if (prompt.plain !== undefined && raw === undefined)
    throw refuse('prompt.plain belongs to a text', 'Messages are always plain, and tokens are ids already.');
  if (raw !== undefined && !text.is(raw)) throw wrong('prompt.text', text.what, raw);
  if (prompt.plain !== undefined && !flag.is(prompt.plain)) throw wrong('prompt.plain', flag.what, prompt.plain);
  if (tokens !== undefined && !(Array.isArray(tokens) && Array.from(tokens).every(number.is)))
    throw wrong('prompt.tokens', 'a list of token ids', tokens);
};

const checkFields = (
  name: string,
  value: Readonly<Record<string, unknown>>,
  kinds: Readonly<Record<string, Kind>>,
): void => {
  for (const [field, own] of Object.entries(value)) {
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
    if (!kind) throw refuse(`${name} has no field "${field}"`, `Its fields are: ${Object.keys(kinds).join(', ')}.`);
    if (own !== undefined && !kind.is(own)) throw wrong(`${name}.${field}`, kind.what, own);
  }
};

const CHOICES: readonly unknown[] = ['auto', 'none', 'required'];
const FUNCTION = { name: text, description: text, parameters: data, strict: flag };

const checkTools = (tools: Readonly<Record<string, unknown>>): void => {
  const choice: Kind = {
    is: (value) => CHOICES.includes(value) || (isObject(value) && text.is(value.name)),
    what: `${CHOICES.join(', ')} or { name }`,
  };
  const list: Kind = { is: Array.isArray, what: 'a list of functions' };
  checkFields('tools', tools, { functions: list, choice, parallel: flag });
  if (!Array.isArray(tools.functions)) throw wrong('tools.functions', list.what, tools.functions);
  const functions: readonly unknown[] = tools.functions;
  const names = new Set<unknown>();
  for (const [i, own] of functions.entries()) {
    const name = `tools.functions[${i}]`;
    if (!isObject(own)) throw wrong(name, 'an object { name, parameters }', own);
    checkFields(name, own, FUNCTION);
    if (typeof own.name !== 'string' || !/^[\w.-]{1,64}$/.test(own.name))
      throw wrong(`${name}.name`, '1 to 64 letters, digits, dots, dashes and underscores', own.name);
    if (names.has(own.name)) throw refuse(`two tools are called ${own.name}`, 'Give every function a name of its own.');
    names.add(own.name);
  }
  const wanted = isObject(tools.choice) ? tools.choice.name : null;
  if (wanted !== null && !names.has(wanted))
    throw refuse(`tools.choice names "${wanted}", which is not one of tools.functions`);
  if (names.size === 0 && tools.choice === 'required')
    throw refuse('tools.choice is required, and there are no functions');
};

/** Throws `bad-request` with the field's name. A field that is `undefined` counts as absent. */
export const checkRequest = (request: unknown): void => {
  if (!isObject(request))
    throw refuse(`a request must be an object, not ${shown(request)}`, `Give { prompt: ${WAYS} }.`);
  for (const [name, value] of Object.entries(request)) {
    const kind = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof RunRequest] : null;
    if (!kind) throw refuse(`a request has no field "${name}"`, `Its fields are: ${Object.keys(FIELDS).join(', ')}.`);
    if (value !== undefined && name !== 'prompt' && !kind.is(value)) throw wrong(name, kind.what, value);
  }
  checkPrompt(request.prompt);
  if (isObject(request.tools)) checkTools(request.tools);
  if (isObject(request.reasoning)) checkFields('reasoning', request.reasoning, { enabled: flag, budget: count });
};

/** The request, checked and copied: the caller may change its own while the run goes on. Throws `bad-request`. */
export const takeRequest = (request: RunRequest): RunRequest => {
  checkRequest(request);
  try {
    return structuredClone(request);
  } catch (cause) {
    throw refuse(
      `the request cannot be copied: ${(cause as Error).message}`,
      "Give plain data: neither functions nor the proxies of a page's framework.",
      { cause },
    );
  }
};
