// Turns a conversation into the string that the model was trained on, by the checkpoint's own Jinja template.
import { OutriderError } from '../base/errors.ts';
import { bad, refuse } from '../base/refuse.ts';

/** A message of a conversation: who said what. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  /** Calls that an assistant made: `{ id, type: 'function', function: { name, arguments } }`. */
  readonly tool_calls?: readonly unknown[];
  /** Of a message with a tool's result. */
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly reasoning_content?: string;
}

export interface ChatOptions {
  /** Functions that the model may call, as JSON schemas; only templates that know tools write them. */
  readonly tools?: readonly unknown[] | undefined;
  /** End with the opening of the assistant's message. Default true. */
  readonly generationPrompt?: boolean;
  /** Further variables of the template. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** How the answer begins: the model goes on from there. */
  readonly begin?: string | undefined;
}

/** Characters for private use. One that no message holds marks the places where a special token must not be read. */
const MARKS = ['\uE000', '\uE001', '\uE002', '\uF8FF'] as const;

/** Of a class: a number as Python reads it (jinja/numbers.ts). */
const isInstance = (data: object): boolean => {
  const prototype = Object.getPrototypeOf(data);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
};

/** Every text in plain data, and the names of its fields: those of a call's arguments are the model's own words. */
const mapTexts = <T>(data: T, change: (text: string) => string): T => {
  if (typeof data === 'string') return change(data) as T;
  if (Array.isArray(data)) return data.map((inner) => mapTexts(inner, change)) as T;
  if (typeof data !== 'object' || data === null || isInstance(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([name, inner]) => [change(name), mapTexts(inner, change)])) as T;
};

/**
 * A conversation with a mark inside every special token that stands in its texts and names, and the mark. The encoder
 * leaves the mark out, and makes no token of what is on its two sides: so what somebody writes stays text, and only the
 * template's own special tokens are any. Null: there is nothing to mark.
 */
export const markSpecials = <T>(
  conversation: T,
  specials: readonly string[],
): { readonly conversation: T; readonly mark: string } | null => {
  const texts: string[] = [];
  mapTexts(conversation, (text) => {
    texts.push(text);
    return text;
  });
  const found = specials.filter((special) => special.length > 1 && texts.some((text) => text.includes(special)));
  if (found.length === 0) return null;
  const mark = MARKS.find((each) => texts.every((text) => !text.includes(each)));
  if (!mark)
    throw refuse(
      'the messages hold special tokens, and all the private-use characters that would keep them as text',
      'Remove the special tokens, or one of U+E000, U+E001, U+E002 and U+F8FF.',
    );
  const marked = (text: string): string =>
    found.reduce((all, special) => all.replaceAll(special, special[0] + mark + special.slice(1)), text);
  return { conversation: mapTexts(conversation, marked), mark };
};

type Json = Readonly<Record<string, unknown>>;

/** What tokenizer_config.json names, and templates write: `bos_token` and so on. */
const SPECIALS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** The text of a special token: a string, or an object that also says how it is read. */
export const specialToken = (config: Json, name: string): string | null => {
  const token = config[name];
  const text = typeof token === 'object' && token !== null ? (token as Json).content : token;
  return typeof text === 'string' && text !== '' ? text : null;
};

/**
 * The template's text; null when there is none. Of several templates one is called `default`, and one may be called
 * `tool_use`.
 */
export const templateSource = ({ chat_template: given }: Json, name = 'default'): string | null => {
  if (given === undefined || given === null || given === '') return null;
  if (typeof given === 'string') return given;
  const of = (own: string): unknown =>
    Array.isArray(given) ? (given as Json[]).find((each) => each?.name === own)?.template : null;
  const named = of(name) ?? of('default');
  if (typeof named === 'string') return named;
  throw bad('tokenizer_config.json: chat_template is neither a text nor a list with one that is named default');
};

/** A template that was read: see jinja/render.ts. */
export type Template = (variables: Readonly<Record<string, unknown>>) => string;

/** The prompt that a conversation becomes. `template` is null for a model without one. */
export const applyChatTemplate = (
  template: Template | null,
  config: Json,
  messages: readonly ChatMessage[],
  { generationPrompt = true, tools, variables, begin = '' }: ChatOptions = {},
): string => {
  if (!template)
    throw refuse(
      'this model has no chat template',
      "Give prompt: { text: '…' }, exactly the text that the model is to continue (command line: --raw).",
    );
  const specials = SPECIALS.map((name) => [name, specialToken(config, name)] as const);
  try {
    const prompt = template({
      documents: null,
      ...Object.fromEntries(specials.filter(([, token]) => token !== null)),
      ...variables,
      messages,
      add_generation_prompt: generationPrompt,
      tools: tools ?? null, // an empty list is a list: what that means is the template's matter
      ...(tools && { xml_tools: tools }), // SmolLM3's name for them
    });
    return prompt + begin;
  } catch (cause) {
    if (cause instanceof OutriderError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refuse(
      `the chat template does not take these messages: ${reason}`,
      'Most templates want roles system, user and assistant, the last two in turn.',
      { cause },
    );
  }
};
