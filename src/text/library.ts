// What is loaded with the first text (31 kB gzipped): chat templates, and @huggingface/tokenizers, whose normalisers,
// pre-tokenisers, models and post-processors are run here. What a file from a stranger can make them do is bounded.
// Where the library differs from Hugging Face's own tokenizers, it is mended: added tokens, and where texts are cut.
import { Tokenizer } from '@huggingface/tokenizers';
import { isObject } from '../base/is-object.ts';
import { type AddedToken, AddedTokens } from './added-tokens.ts';
import { BoundedPattern, Steps } from './bounded-pattern.ts';
import type { Encoder } from './encoder.ts';
import { inByteAlphabet } from './pieces.ts';
import { openSentencePiece, type SentencePieceModel } from './sentencepiece.ts';
import { splitBy } from './split-text.ts';

export { compileTemplate } from './jinja/render.ts';

type Json = Readonly<Record<string, unknown>>;

/** A normaliser or pre-tokeniser of the library: a function with properties. */
interface Step {
  readonly config?: Json;
  pattern?: unknown;
  pre_tokenize_text?: (text: string) => string[];
}

/** Calls `change` for a step and for those in its lists: a sequence has its own there. */
const eachStep = (step: unknown, change: (step: Step) => void): void => {
  if (typeof step !== 'function') return;
  change(step as Step);
  for (const inner of Object.values(step)) if (Array.isArray(inner)) for (const each of inner) eachStep(each, change);
};

const boundPatterns = (root: unknown, steps: Steps): void =>
  eachStep(root, (step) => {
    if (step.pattern instanceof RegExp && (step.config?.pattern as Json | undefined)?.Regex !== undefined)
      step.pattern = new BoundedPattern(step.pattern, steps);
  });

/** JavaScript's `\s` has U+FEFF, and lacks U+0085. */
const withUnicodeSpaces = ({ source, flags }: RegExp): RegExp =>
  new RegExp(source.replaceAll('\\s', '\\p{White_Space}').replaceAll('\\S', '\\P{White_Space}'), flags);

const mendSplits = (root: unknown): void =>
  eachStep(root, (step) => {
    const { config, pattern } = step;
    if (!(pattern instanceof RegExp)) return;
    if (config?.type === 'ByteLevel') step.pattern = withUnicodeSpaces(pattern);
    if (config?.type === 'Split') step.pre_tokenize_text = splitBy(pattern, config);
  });

const literal = (text: unknown): string => String(text).replaceAll('$', '$$$$');

/** The library writes with `replaceAll`, to which `$` is a sign; Hugging Face's tokenizers write a text as it is. */
const withPlainContents = (step: unknown): unknown => {
  if (Array.isArray(step)) return step.map(withPlainContents);
  if (!isObject(step)) return step;
  const lists = ['normalizers', 'pretokenizers'].filter((name) => Array.isArray(step[name]));
  return {
    ...step,
    ...(step.type === 'Replace' && { content: literal(step.content ?? '') }),
    ...(step.type === 'Metaspace' && { str_rep: literal(step.str_rep || (step.replacement ?? '▁')) }),
    ...Object.fromEntries(lists.map((name) => [name, withPlainContents(step[name])])),
  };
};

/** What `\w` is to Hugging Face's tokenizers, and what is punctuation. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const PUNCTUATION = '[\\p{P}$+<=>^`|~]';

const split = (pattern: Json, behavior: unknown, invert = false): Json => ({
  type: 'Split',
  pattern,
  behavior,
  invert,
});

/** Steps that the library cuts elsewhere than Hugging Face's tokenizers do, as Splits. */
const withSplits = (step: unknown): unknown => {
  if (!isObject(step)) return step;
  if (Array.isArray(step.pretokenizers)) return { ...step, pretokenizers: step.pretokenizers.map(withSplits) };
  switch (step.type) {
    case 'Digits':
      return split({ Regex: '\\p{N}' }, step.individual_digits ? 'Isolated' : 'Contiguous');
    case 'Punctuation':
      return split({ Regex: PUNCTUATION }, step.behavior ?? 'Isolated');
    case 'Whitespace':
      return split({ Regex: `[${WORD}]+|[^${WORD}\\s]+` }, 'Removed', true);
    case 'WhitespaceSplit':
      return split({ Regex: '\\s' }, 'Removed');
    case 'Metaspace': {
      if (step.split === false) return step;
      const spaces = split({ String: step.replacement ?? '▁' }, 'MergedWithNext');
      return { type: 'Sequence', pretokenizers: [step, spaces] };
    }
    default:
      return step;
  }
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

const isId = (id: unknown): id is number => Number.isInteger(id);

/**
 * `tokenizer` was checked (check-tokenizer.ts). Throws `bad-checkpoint`, or an error of the library's where
 * tokenizer.json is not what it expects.
 */
export const openEncoder = (tokenizer: Json, config: Json): Encoder => {
  const added = (tokenizer.added_tokens ?? []) as AddedToken[];
  const model = tokenizer.model as Json;
  if (model.type === 'SentencePiece') return openSentencePiece(model as unknown as SentencePieceModel, added);
  const steps = new Steps();
  const normalizerSteps = withPlainContents(tokenizer.normalizer);
  const pre_tokenizer = withSplits(withPlainContents(tokenizer.pre_tokenizer));
  const whole: Json = { ...tokenizer, normalizer: normalizerSteps, pre_tokenizer, added_tokens: added };
  if (JSON.stringify(tokenizer.normalizer)?.includes('"Regex"')) tryAddedTokens(whole, config, steps);
  const library = new Tokenizer(whole, config);
  boundPatterns(library.normalizer, steps);
  boundPatterns(library.pre_tokenizer, steps);
  mendSplits(library.pre_tokenizer);
  const { normalizer, model: merges, post_processor: wrap } = library;
  const isNormalized = ({ normalized, special }: AddedToken): boolean => normalized ?? !special;
  const written = new AddedTokens(added.filter((token) => !isNormalized(token)));
  const normalized = new AddedTokens(
    added.filter(isNormalized),
    ({ content }) => normalizer?._call(content) ?? content,
  );
  const isByteLevel = JSON.stringify(tokenizer.pre_tokenizer)?.includes('"ByteLevel"');

  /** The tokens of a text without added tokens. `isFirst`: it is where the whole text begins. */
  const tokensOf = (text: string, isFirst: boolean, mark: string | null): string[] => {
    const pieces = library.pre_tokenizer?._call(text, { section_index: isFirst ? 0 : 1 }) ?? [text];
    const cut = mark && isByteLevel ? inByteAlphabet(mark) : mark;
    const parts = cut === null ? pieces : pieces.flatMap((piece) => piece.split(cut).filter(Boolean));
    return merges?._call(parts) ?? parts;
  };

  return {
    encode(text, special, mark = null) {
      steps.refill(text.length);
      const tokens = written.split(text).flatMap((outer, i) => {
        if (outer.token) return [outer.token.content];
        return normalized
          .split(normalizer?._call(outer.text) ?? outer.text)
          .flatMap((inner, j) => (inner.token ? [inner.token.content] : tokensOf(inner.text, i + j === 0, mark)));
      });
      const wrapped = wrap ? wrap._call(tokens, null, special).tokens : tokens;
      // A byte that the vocabulary lacks comes out as undefined when there is no unknown token; like the reference
      // implementation, such bytes are dropped.
      return wrapped.map((token) => merges?.tokens_to_ids.get(token) ?? merges?.unk_token_id).filter(isId);
    },
    idOf: (token) => library.token_to_id(token),
  };
};
