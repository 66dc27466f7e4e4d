// Text to token ids and back, by the tokenizer of @huggingface/transformers, built from the checkpoint's own JSON. The
// library (155 kB gzipped) is imported on first use: an engine that is given token ids does not load it.
import { OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import type { TokenizerFiles } from '../weights/checkpoint.ts';
import { applyChatTemplate, type ChatMessage, type ChatOptions } from './chat-template.ts';
import { checkTokenizer } from './check-tokenizer.ts';
import { Pieces } from './pieces.ts';
import { type TextStream, textStream } from './text-stream.ts';

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
  /** The vocabulary's entry, as it is written in the file; null when there is none. */
  entry(id: number): string | null;
  /**
   * Special tokens that are written in the text are recognised. `special` adds what the tokenizer wraps a text in (a
   * BOS, where the model wants one): right for a raw prompt, wrong after a chat template. Default false.
   */
  encode(text: string, options?: { readonly special?: boolean }): number[];
  /** `special` writes special tokens out too. Default false. */
  decode(ids: readonly number[], options?: { readonly special?: boolean }): string;
  /** The prompt that a conversation becomes. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string;
  /** Ids into text, whole characters at a time. */
  stream(options?: { readonly special?: boolean }): TextStream;
}

const isId = (value: unknown): value is number => Number.isInteger(value);

/** The file was checked (check-tokenizer.ts); any error that its content still causes is reported as the file's. */
const build = <T>(work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof OutriderError) throw cause;
    throw bad(`tokenizer.json: ${cause instanceof Error ? cause.message : String(cause)}`, '', { cause });
  }
};

/** From `tokenizer.json` and the files next to it. */
export const loadTokenizer = async ({ tokenizer, config, generation = {} }: TokenizerSource): Promise<Tokenizer> => {
  checkTokenizer(tokenizer);
  const { PreTrainedTokenizer, env } = await import('@huggingface/transformers');
  // The library gets everything as objects; with these off it could not fetch if it wanted to.
  env.allowRemoteModels = false;
  env.allowLocalModels = false;

  const pieces = build(() => new Pieces(tokenizer));
  const library = build(() => new PreTrainedTokenizer(tokenizer, config));
  const stream = (options?: { readonly special?: boolean }): TextStream => textStream(pieces, options);
  return {
    vocabulary: pieces.size,
    eos: [...new Set([library.eos_token_id, generation.eos_token_id].flat().filter(isId))],
    hasChatTemplate: Boolean(library.chat_template),
    entry: (id) => pieces.name(id),
    encode: (text, { special = false } = {}) =>
      // A byte that the vocabulary lacks comes out as undefined when there is no unknown token; like the reference
      // implementation, such bytes are dropped.
      build(() => library.encode(text, { add_special_tokens: special })).filter(Number.isInteger),
    decode(ids, options) {
      const text = stream(options);
      return text.push(ids) + text.end();
    },
    chat: (messages, options) => applyChatTemplate(library, messages, options),
    stream,
  };
};
