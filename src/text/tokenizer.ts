// Text to token ids and back, by the tokenizer library (library.ts), built from the checkpoint's own JSON. The library
// is imported on first use: an engine that is given token ids does not load it.
import type { TokenizerFiles } from '../weights/checkpoint.ts';
import {
  applyChatTemplate,
  type ChatMessage,
  type ChatOptions,
  markSpecials,
  specialToken,
  type Template,
  templateSource,
} from './chat-template.ts';
import { build, checkTokenizer } from './check-tokenizer.ts';
import { withConfigTokens } from './config-tokens.ts';
import { Pieces } from './pieces.ts';
import { type TextOptions, type TextStream, textStream } from './text-stream.ts';

/**
 * What a checkpoint's `tokenizer()` gives; GGUF and folders without generation_config.json leave `generation` empty.
 */
export type TokenizerSource = Pick<TokenizerFiles, 'tokenizer' | 'config'> & Partial<TokenizerFiles>;

/** Text into ids and back. */
export interface Tokenizer {
  /** One more than the highest id. A model's own vocabulary may be larger: embeddings are padded. */
  readonly vocabulary: number;
  /** The ids that end a text: the tokenizer's own, and those that generation_config.json names. */
  readonly eos: readonly number[];
  readonly hasChatTemplate: boolean;
  /** The text of the chat template, of the one for tools where there are two; null without any. */
  chatTemplate(tools?: boolean): string | null;
  /** The id of the special token with this text; null when there is none. */
  special(text: string): number | null;
  /** The vocabulary's entry, as it is written in the file; null when there is none. */
  entry(id: number): string | null;
  /** What the token adds to a text, as bytes; none for a special token and for an id that does not exist. */
  bytes(id: number): Uint8Array;
  /**
   * Special tokens that are written in the text are recognised. `special` adds what the tokenizer wraps a text in (a
   * BOS, where the model wants one): right for a raw prompt, wrong after a chat template. Default false. With `plain`,
   * special tokens in the text are encoded as the text that they are.
   */
  encode(text: string, options?: { readonly special?: boolean; readonly plain?: boolean }): number[];
  /** `special` writes special tokens out too, and `within` the space with which they continue a text. Default false. */
  decode(ids: readonly number[], options?: TextOptions): string;
  /** The prompt that a conversation becomes, as text. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string;
  /** The same as ids. Special tokens that stand in a message are encoded as the text that they are. */
  encodeChat(messages: readonly ChatMessage[], options?: ChatOptions): number[];
  /** Ids into text, whole characters at a time. `shown`: special tokens that are written out. */
  stream(options?: TextOptions & { readonly shown?: ReadonlySet<number> }): TextStream;
}

const isId = (value: unknown): value is number => Number.isInteger(value);

/** From `tokenizer.json` and the files next to it. */
export const loadTokenizer = async ({
  tokenizer: own,
  config,
  generation = {},
}: TokenizerSource): Promise<Tokenizer> => {
  const entries = build('tokenizer.json', () => checkTokenizer(own));
  const tokenizer = build('tokenizer_config.json', () => withConfigTokens(own, entries, config));
  if (tokenizer !== own) build('tokenizer_config.json', () => checkTokenizer(tokenizer));
  const { compileTemplate, openEncoder } = await import('./library.ts');
  const pieces = build('tokenizer.json', () => new Pieces(tokenizer, entries));
  const encoder = build('tokenizer.json', () => openEncoder(tokenizer, config));
  const templates = new Map<string, Template>();
  const chatTemplate = (tools = false): string | null => templateSource(config, tools ? 'tool_use' : 'default');
  /** Read when it is first used. */
  const template = ({ tools }: ChatOptions = {}): Template | null => {
    const source = chatTemplate(tools !== undefined);
    if (source === null) return null;
    const read = templates.get(source) ?? build('chat template', () => compileTemplate(source));
    templates.set(source, read);
    return read;
  };
  const stream: Tokenizer['stream'] = (options) => textStream(pieces, options);
  const ids = (text: string, special: boolean, mark: string | null): number[] =>
    build('tokenizer.json', () => encoder.encode(text, special, mark));
  const specials = pieces.specials();
  const encode: Tokenizer['encode'] = (text, { special = false, plain = false } = {}) => {
    const marked = plain ? markSpecials(text, specials) : null;
    return ids(marked?.conversation ?? text, special, marked?.mark ?? null);
  };
  return {
    vocabulary: pieces.size,
    eos: [
      ...new Set([encoder.idOf(specialToken(config, 'eos_token') ?? ''), generation.eos_token_id].flat().filter(isId)),
    ],
    hasChatTemplate: templateSource(config) !== null,
    chatTemplate,
    special(text) {
      const id = specials.includes(text) ? encoder.idOf(text) : undefined;
      return isId(id) ? id : null;
    },
    entry: (id) => pieces.name(id),
    bytes: (id) => (pieces.isSpecial(id) ? new Uint8Array() : pieces.bytes(id)),
    encode,
    decode(ids, options) {
      const text = stream(options);
      return text.push(ids) + text.end();
    },
    chat: (messages, options) => applyChatTemplate(template(options), config, messages, options),
    encodeChat(messages, options) {
      const marked = markSpecials({ messages, tools: options?.tools, begin: options?.begin }, specials);
      if (!marked) return encode(applyChatTemplate(template(options), config, messages, options));
      const { messages: texts, ...others } = marked.conversation;
      const prompt = applyChatTemplate(template(options), config, texts, { ...options, ...others });
      return ids(prompt, false, marked.mark);
    },
    stream,
  };
};
