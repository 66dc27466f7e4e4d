// The tokenizer library (40 kB gzipped, loaded on first use): @huggingface/tokenizers makes the tokens. What a file from
// a stranger can make it do is bounded here. Chat templates come with it.
import { Tokenizer } from '@huggingface/tokenizers';
import { BoundedPattern, Steps } from './bounded-pattern.ts';
import type { Encoder } from './encoder.ts';
import { openSentencePiece, type SentencePieceModel } from './sentencepiece.ts';

export { compileTemplate } from './jinja/render.ts';

type Json = Readonly<Record<string, unknown>>;

/** Normalisers and pre-tokenisers are functions with properties; those in a sequence are in a list. */
const boundPatterns = (step: unknown, steps: Steps): void => {
  if (typeof step !== 'function') return;
  const parts = step as unknown as { pattern?: unknown; config?: { pattern?: { Regex?: unknown } } };
  if (parts.pattern instanceof RegExp && parts.config?.pattern?.Regex !== undefined)
    parts.pattern = new BoundedPattern(parts.pattern, steps);
  for (const inner of Object.values(step))
    if (Array.isArray(inner)) for (const each of inner) boundPatterns(each, steps);
};

/** The library normalises added tokens while it is built. They are tried first where a pattern is bounded. */
const tryAddedTokens = (tokenizer: Json, config: Json, steps: Steps): void => {
  const { normalizer } = new Tokenizer(
    { ...tokenizer, model: { type: 'BPE', vocab: {}, merges: [] }, added_tokens: [] },
    config,
  );
  boundPatterns(normalizer, steps);
  const texts = (tokenizer.added_tokens as { content: string }[]).map(({ content }) => content);
  steps.refill(texts.reduce((sum, text) => sum + text.length, 0));
  for (const text of texts) normalizer?._call(text);
};

/** `tokenizer` was checked (check-tokenizer.ts). Throws `bad-checkpoint`, or an error of the library's where tokenizer.json is not what it expects. */
export const openEncoder = (tokenizer: Json, config: Json): Encoder => {
  const added = (tokenizer.added_tokens ?? []) as { id: number; content: string }[];
  const model = tokenizer.model as Json;
  if (model.type === 'SentencePiece') return openSentencePiece(model as unknown as SentencePieceModel, added);
  const steps = new Steps();
  const whole: Json = { ...tokenizer, added_tokens: added };
  if (JSON.stringify(tokenizer.normalizer)?.includes('"Regex"')) tryAddedTokens(whole, config, steps);
  const library = new Tokenizer(whole, config);
  boundPatterns(library.normalizer, steps);
  boundPatterns(library.pre_tokenizer, steps);
  return {
    encode(text, special) {
      steps.refill(text.length);
      // A byte that the vocabulary lacks comes out as undefined when there is no unknown token; like the reference
      // implementation, such bytes are dropped.
      return library.encode(text, { add_special_tokens: special }).ids.filter(Number.isInteger);
    },
    idOf: (token) => library.token_to_id(token),
  };
};
