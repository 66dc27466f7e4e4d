// Texts between two vocabularies: what one model wrote, in the tokens of another.
import type { Tokenizer } from './tokenizer.ts';

/** So many tokens before the seam are tokenised together with what follows: a word may reach across it. */
const SEAM = 8;

/** The tokens of `text` behind `lead`, whose own tokens are `known`; null where they do not stay as they are. */
const behind = (
  lead: string,
  known: readonly number[],
  text: string,
  encode: (text: string) => readonly number[],
): readonly number[] | null => {
  const whole = encode(lead + text);
  return known.every((token, i) => whole[i] === token) ? whole.slice(known.length) : null;
};

/** The tokens of a text that continues `before`. A special token that is written in the text stays text. */
export const retokenise = (before: readonly number[], text: string, tokenizer: Tokenizer): readonly number[] => {
  const isSpecial = (token: number): boolean => tokenizer.bytes(token).length === 0;
  const last = before.slice(-SEAM);
  // Some tokenizers put a space in front of every text: there the known tokens have to begin with a word.
  for (const from of last.keys()) {
    const known = last.slice(from);
    const own = behind(tokenizer.decode(known, { special: true }), known, text, (all) => tokenizer.encode(all));
    if (own && !own.some(isSpecial)) return own;
  }
  // The text is spelled by itself. A line feed keeps that space away from it.
  const plain = (all: string): readonly number[] => tokenizer.encode(all, { plain: true });
  return (before.length > 0 ? behind('\n', plain('\n'), text, plain) : null) ?? plain(text);
};

type Streams = Pick<Tokenizer, 'stream'>;

const endsInsideCharacter = (tokens: readonly number[], tokenizer: Streams): boolean => {
  const text = tokenizer.stream();
  text.push(tokens);
  return text.end() !== '';
};

/** Without the last tokens where they are the beginning of a character: as text they would be U+FFFD for good. */
export const wholeCharacters = (tokens: readonly number[], tokenizer: Streams): readonly number[] => {
  let { length } = tokens;
  while (length > 0 && endsInsideCharacter(tokens.slice(0, length), tokenizer)) length--;
  return tokens.slice(0, length);
};

/**
 * At most so many tokens. A character that the limit cuts is left out, because the next step writes it whole; it stays
 * where there is nothing else, as at the end of an answer.
 */
export const cutTokens = (tokens: readonly number[], most: number, tokenizer: Streams): readonly number[] => {
  const cut = tokens.slice(0, most);
  const whole = wholeCharacters(cut, tokenizer);
  return whole.length > 0 ? whole : cut;
};

/**
 * A text as it is sent to another model: without what that one's tokenizer wraps it in again (a BOS, where the model
 * wants one), and without the beginning of a character that is cut off.
 */
export const unwrappedText = (tokens: readonly number[], tokenizer: Tokenizer): string => {
  const wrapped = tokenizer.encode('', { special: true });
  const own = wrapped.length > 0 && wrapped.every((token, i) => tokens[i] === token) ? wrapped.length : 0;
  return tokenizer.stream({ special: true }).push(tokens.slice(own));
};
