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
  config?: Json;
  pattern?: unknown;
  pre_tokenize_text?: (text: string) => string[];
  normalize?: (text: string) => string;
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

/** Character by character: to JavaScript a Σ at the end of a word is another one. */
const lowercase = (text: string): string => Array.from(text, (character) => character.toLowerCase()).join('');

/** Beyond 16 bits too, where the library looks at halves of characters. */
const HAN = new RegExp(
  '[\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b81f}' +
    '\\u{2b920}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}]',
  'gu',
);

const mendNormalizers = (root: unknown): void =>
  eachStep(root, (step) => {
    const { config } = step;
    const { type, strip_left: left, strip_right: right } = config ?? {};
    if (type === 'BertNormalizer') {
      const { handle_chinese_chars: apart, lowercase: low, strip_accents: bare } = config as Json;
      step.config = { ...config, handle_chinese_chars: false, lowercase: false, strip_accents: bare ?? low };
      const { normalize } = step;
      step.normalize = (text) => {
        const rest = normalize?.call(step, apart ? text.replace(HAN, ' $& ') : text) ?? text;
        return low ? lowercase(rest) : rest;
      };
    }
    if (type === 'Lowercase') step.normalize = lowercase;
    if (type === 'Strip')
      step.normalize = (text) =>
        text.replace(left ? /^\p{White_Space}+/u : '', '').replace(right ? /\p{White_Space}+$/u : '', '');
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

const WHITE_SPACE = split({ Regex: '\\s' }, 'Removed');

/** Steps that the library cuts elsewhere than Hugging Face's tokenizers do, as Splits. */
const withSplits = (step: unknown): unknown => {
  if (!isObject(step)) return step;
  if (Array.isArray(step.pretokenizers)) return { ...step, pretokenizers: step.pretokenizers.map(withSplits) };
  switch (step.type) {
    case 'Digits':
      return split({ Regex: '\\p{N}' }, step.individual_digits ? 'Isolated' : 'Contiguous');
    case 'Punctuation':
      return split({ Regex: PUNCTUATION }, step.behavior ?? 'Isolated');
    case 'BertPreTokenizer':
      return { type: 'Sequence', pretokenizers: [WHITE_SPACE, split({ Regex: PUNCTUATION }, 'Isolated')] };
    case 'Whitespace':
      return split({ Regex: `[${WORD}]+|[^${WORD}\\s]+` }, 'Removed', true);
    case 'WhitespaceSplit':
      return WHITE_SPACE;
    case 'Metaspace': {
      if (step.split === false) return step;
      const spaces = split({ String: step.replacement ?? '▁' }, 'MergedWithNext');
      return { type: 'Sequence', pretokenizers: [step, spaces] };
    }
    default:
      return step;
  }
};

const isId = (id: unknown): id is number => Number.isInteger(id);

/** Stands for a text's tokens where they are wrapped in others. */
const TEXT = '';

const utf8 = new TextEncoder();

/** The entries of a text's bytes. */
const byteEntries = (text: string): string[] =>
  Array.from(utf8.encode(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);

/** Every file that `tokenizers` has written names them; it reads files without, and the library does not. */
const NO_STEPS: Json = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };

/**
 * `file` was checked (check-tokenizer.ts). Throws `bad-checkpoint`, or an error of the library's where
 * tokenizer.json is not what it expects.
 */
export const openEncoder = (file: Json, config: Json): Encoder => {
  const tokenizer: Json = { ...NO_STEPS, ...file };
  const added = (tokenizer.added_tokens ?? []) as AddedToken[];
  const model = tokenizer.model as Json;
  if (model.type === 'SentencePiece') return openSentencePiece(model as unknown as SentencePieceModel, added);
  const steps = new Steps();
  const normalizerSteps = withPlainContents(tokenizer.normalizer);
  const pre_tokenizer = withSplits(withPlainContents(tokenizer.pre_tokenizer));
  // With added tokens the library's model would find them in a text's pieces, too.
  const whole: Json = { ...tokenizer, normalizer: normalizerSteps, pre_tokenizer, added_tokens: [] };
  const library = new Tokenizer(whole, config);
  boundPatterns(library.normalizer, steps);
  boundPatterns(library.pre_tokenizer, steps);
  mendSplits(library.pre_tokenizer);
  mendNormalizers(library.normalizer);
  steps.refill(added.reduce((sum, { content }) => sum + content.length, 0));
  const { normalizer, model: merges, post_processor: wrap } = library;
  const isNormalized = ({ normalized, special }: AddedToken): boolean => normalized ?? !special;
  const written = new AddedTokens(added.filter((token) => !isNormalized(token)));
  const normalized = new AddedTokens(
    added.filter(isNormalized),
    ({ content }) => normalizer?._call(content) ?? content,
  );
  const isByteLevel = JSON.stringify(tokenizer.pre_tokenizer)?.includes('"ByteLevel"');
  const addedIds = new Map(added.map(({ content, id }) => [content, id]));
  const idOf = (token: string): number | undefined => addedIds.get(token) ?? merges?.tokens_to_ids.get(token);
  const isKnown = (token: string): boolean => merges?.tokens_to_ids.has(token) ?? true;
  // Of whole words the library knows the token for unknown ones by its name only, and drops them.
  const unknown = merges?.unk_token_id ?? idOf(String(model.unk_token ?? ''));
  const fallsBack = model.byte_fallback === true && Array.isArray(model.vocab);
  const drops = Array.isArray(model.merges) && !model.unk_token && !model.byte_fallback && !model.end_of_word_suffix;

  /** Of several pieces at once the library makes one unknown token where a piece ends with one and the next begins so. */
  const tokensOfPiece = (piece: string): string[] => {
    // The characters that a vocabulary has are merged as if nothing had been between.
    const read = drops && !isKnown(piece) ? Array.from(piece).filter(isKnown).join('') : piece;
    const tokens = merges?._call([read]) ?? [piece];
    if (!fallsBack) return tokens;
    // The library knows bytes in BPE alone, and not in Unigram (Helium).
    return tokens.flatMap((token) => {
      const bytes = isKnown(token) ? [] : byteEntries(token);
      return bytes.length > 0 && bytes.every(isKnown) ? bytes : [token];
    });
  };

  /** Of a text without added tokens. `isFirst`: it is where the whole text begins. */
  const idsOf = (text: string, isFirst: boolean, mark: string | null): number[] => {
    const pieces = library.pre_tokenizer?._call(text, { section_index: isFirst ? 0 : 1 }) ?? [text];
    const cut = mark && isByteLevel ? inByteAlphabet(mark) : mark;
    const parts = cut === null ? pieces : pieces.flatMap((piece) => piece.split(cut).filter(Boolean));
    const tokens = parts.flatMap(tokensOfPiece);
    return tokens.map((token) => merges?.tokens_to_ids.get(token) ?? unknown).filter(isId);
  };

  return {
    encode(text, special, mark = null) {
      steps.refill(text.length);
      const ids = written.split(text).flatMap((outer, i) => {
        if (outer.token) return [outer.token.id];
        return normalized
          .split(normalizer?._call(outer.text) ?? outer.text)
          .flatMap((inner, j) => (inner.token ? [inner.token.id] : idsOf(inner.text, i + j === 0, mark)));
      });
      const wrapped = wrap?._call([TEXT], null, special).tokens ?? [TEXT];
      return wrapped.flatMap((token) => (token === TEXT ? ids : (idOf(token) ?? [])));
    },
    idOf,
  };
};
