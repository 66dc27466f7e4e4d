// What may be said to a Prompt API session, and how: the checks of the specification, in its order and with its errors.
import { isObject } from '../base/is-object.ts';
import { shown } from '../base/shown.ts';
import type { Constraint, JsonSchema } from '../constraint/constraint.ts';
import type { ChatMessage } from '../text/chat-template.ts';

/** A message of a conversation. */
export interface LanguageModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly { readonly type: string; readonly value: unknown }[];
  readonly prefix?: boolean;
}

/** A text is the user's. What is no list is taken as a text, as browsers do. */
export type LanguageModelPrompt = string | readonly LanguageModelMessage[];

/** A kind of input or output. */
export interface LanguageModelExpected {
  readonly type: string;
  readonly languages?: readonly string[];
}

/** Sampling by a word in the place of numbers. */
export type SamplingMode =
  | 'most-predictable'
  | 'predictable'
  | 'slightly-predictable'
  | 'balanced'
  | 'slightly-creative'
  | 'creative'
  | 'most-creative';

/** How a session samples, and what goes in and out. */
export interface LanguageModelCreateCoreOptions {
  readonly samplingMode?: SamplingMode;
  /** Instead of a mode. */
  readonly temperature?: number;
  readonly topK?: number;
  readonly expectedInputs?: readonly LanguageModelExpected[];
  readonly expectedOutputs?: readonly LanguageModelExpected[];
  /** Functions that the model may call; their results go back to it until it answers. */
  readonly tools?: readonly LanguageModelTool[];
}

/** A function of the page that the model may call. */
export interface LanguageModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the arguments. */
  readonly inputSchema: object;
  /** Called with the model's arguments; what it returns is the tool's answer. */
  readonly execute: (input: unknown) => Promise<string> | string;
}

export interface Sampler {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
}

/** The specification leaves the figures to the implementation. */
const MODES: Readonly<Record<SamplingMode, Sampler>> = {
  'most-predictable': { temperature: 0, topK: 0, topP: 1 },
  predictable: { temperature: 0.4, topK: 0, topP: 0.95 },
  'slightly-predictable': { temperature: 0.55, topK: 0, topP: 0.95 },
  balanced: { temperature: 0.7, topK: 0, topP: 0.95 },
  'slightly-creative': { temperature: 0.85, topK: 0, topP: 0.95 },
  creative: { temperature: 1, topK: 0, topP: 0.95 },
  'most-creative': { temperature: 1.3, topK: 0, topP: 0.98 },
};

export const PARAMS = { defaultTopK: 40, maxTopK: 128, defaultTemperature: 0.7, maxTemperature: 2 } as const;

export const unsupported = (what: string): DOMException =>
  new DOMException(`${what} is not supported by this engine`, 'NotSupportedError');

/** As a browser has it, a value of the wrong type is a TypeError. */
const wrong = (name: string, what: string, value: unknown): TypeError =>
  new TypeError(`${name} must be ${what}, not ${shown(value)}`);

/** A list of objects; absent it is empty. */
export const listOf = <T>(name: string, list: readonly T[] | null | undefined): readonly T[] => {
  if (!Array.isArray(list ?? [])) throw wrong(name, 'a list', list);
  const odd = Array.from(list ?? []).findIndex((each) => !isObject(each));
  if (odd >= 0) throw wrong(`${name}[${odd}]`, 'an object', list?.[odd]);
  return list ?? [];
};

/** Options of a call; null is as good as absent. */
export const optionsOf = <T extends object>(options: T | null | undefined): T => {
  if ((options ?? null) !== null && !isObject(options)) throw wrong('options', 'an object', options);
  const { signal } = (options ?? {}) as { readonly signal?: unknown };
  if ((signal ?? null) !== null && !(signal instanceof AbortSignal)) throw wrong('signal', 'an AbortSignal', signal);
  return options ?? ({} as T);
};

/** Null for sampling by numbers, which has no mode. */
export const readSampling = (options: LanguageModelCreateCoreOptions): [SamplingMode | null, Sampler] => {
  const { samplingMode, temperature, topK } = options;
  if (temperature === undefined && topK === undefined) {
    const mode = samplingMode ?? 'balanced';
    if (typeof mode !== 'string' || !Object.hasOwn(MODES, mode))
      throw wrong('samplingMode', `one of ${Object.keys(MODES).join(', ')}`, mode);
    return [mode, MODES[mode]];
  }
  if (samplingMode !== undefined) throw new TypeError('samplingMode and temperature or topK exclude each other');
  const [heat = PARAMS.defaultTemperature, most = PARAMS.defaultTopK] = [temperature, topK];
  for (const [name, value] of Object.entries({ temperature: heat, topK: most }))
    if (typeof value !== 'number') throw wrong(name, 'a number', value);
  if (!(heat >= 0)) throw new RangeError(`temperature must not be below 0: ${heat}`);
  if (!(most >= 1)) throw new RangeError(`topK must not be below 1: ${most}`);
  const k = Math.floor(Math.min(most, PARAMS.maxTopK));
  return [null, { temperature: Math.min(heat, PARAMS.maxTemperature), topK: k, topP: 1 }];
};

const TYPES = ['text', 'tool-call', 'tool-response'];

/** Text in, text out; calls of tools are text to the model. Throws a RangeError for what is no language tag. */
export const isWithin = ({ expectedInputs, expectedOutputs }: LanguageModelCreateCoreOptions): boolean => {
  const all = [...listOf('expectedInputs', expectedInputs), ...listOf('expectedOutputs', expectedOutputs)];
  for (const { languages } of all) Intl.getCanonicalLocales(languages);
  return all.every(({ type }) => TYPES.includes(type));
};

const wrongTool = (name: string, what: string): TypeError => new TypeError(`the tool "${name}" ${what}`);

const plain = (name: string, schema: unknown): unknown => {
  try {
    return isObject(schema) ? JSON.parse(JSON.stringify(schema)) : null;
  } catch (cause) {
    throw wrongTool(name, `has an inputSchema that cannot be written as JSON: ${(cause as Error).message}`);
  }
};

/** Every tool is whole, and its schema can be written down. */
export const checkTools = (tools: readonly LanguageModelTool[]): void => {
  const names = new Set<string>();
  for (const { name, description, inputSchema, execute } of listOf('tools', tools)) {
    if (typeof name !== 'string' || name === '') throw new TypeError('a tool has no name');
    if (names.has(name)) throw new TypeError(`two tools are called "${name}"`);
    names.add(name);
    if (typeof description !== 'string' || description === '') throw wrongTool(name, 'has no description');
    if (typeof execute !== 'function') throw wrongTool(name, 'has no execute function');
    const schema = plain(name, inputSchema);
    const { type, properties = {}, required = [] } = (schema ?? {}) as Readonly<Record<string, unknown>>;
    if (type !== 'object') throw wrongTool(name, 'needs an inputSchema of type object');
    if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
      throw wrongTool(name, 'has properties that are no object');
    if (!Array.isArray(required)) throw wrongTool(name, 'has a required that is no list');
  }
};

/** What a class has another meaning by under the flag `v`, in a source without escapes. */
const SET_NOTATION = /\[[^\]]*?(?:--|&&|\[|\\q)/;

/** A JSON Schema, or a regular expression for the whole answer. `begun`: the answer has a prefix. */
export const readConstraint = (wanted: object | undefined, begun = false): Constraint | undefined => {
  if (wanted === undefined) return undefined;
  if (wanted instanceof RegExp) {
    if (wanted.flags.replace(/[dguvy]/g, '') !== '')
      throw unsupported(`the flags ${wanted.flags} of a responseConstraint`);
    if (wanted.flags.includes('v') && SET_NOTATION.test(wanted.source.replaceAll(/\\[^q]/gs, '')))
      throw unsupported(`the sets of characters in ${wanted}`);
    return { regex: wanted.source };
  }
  try {
    const json_schema = JSON.parse(JSON.stringify(wanted)) as JsonSchema;
    // A prefix may lay the object out as it likes.
    return { json_schema, ...(begun && { whitespace: 'any' as const }) };
  } catch {
    throw unsupported('a responseConstraint that cannot be written as JSON');
  }
};

const textOf = ({ content }: LanguageModelMessage): string => {
  if (typeof content === 'string') return content;
  return listOf('content', content ?? [null])
    .map(({ type, value }) => {
      if (type !== 'text') throw unsupported(`content of type ${type}`);
      if (typeof value !== 'string') throw new TypeError('the value of a text must be a string');
      return value;
    })
    .join('');
};

export const lateSystem = (): TypeError => new TypeError('a system prompt must be the first message');

/** What is said by it; whether a system prompt comes too late for the session is not known here. */
export const readPrompt = (input: LanguageModelPrompt): readonly ChatMessage[] => {
  if (!Array.isArray(input)) return [{ role: 'user', content: String(input) }];
  if (input.length === 0) return [{ role: 'user', content: '' }];
  return listOf('prompt', input).map((message, i) => {
    const { role, prefix } = message;
    if (!['system', 'user', 'assistant'].includes(role)) throw wrong('role', 'one of system, user, assistant', role);
    if (prefix && (role !== 'assistant' || i !== input.length - 1))
      throw new DOMException('prefix belongs to a last message of the assistant', 'SyntaxError');
    if (role === 'system' && i > 0) throw lateSystem();
    return { role, content: textOf(message) };
  });
};

/** The assistant's last message with `prefix`: the answer goes on from there. */
export const beginOf = (input: LanguageModelPrompt): boolean => Array.isArray(input) && input.at(-1)?.prefix === true;
