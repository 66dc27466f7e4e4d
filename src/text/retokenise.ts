// Texts between two vocabularies: what one model wrote, in the tokens of another.
import type { Tokenizer } from './tokenizer.ts';

/** So many tokens before the seam are tokenised together with what follows: a word may reach across it. */
const SEAM = 8;

/** The tokens of a text that continues `before`. */
export const retokenise = (before: readonly number[], text: string, tokenizer: Tokenizer): readonly number[] => {
  const known = before.slice(-SEAM);
  const whole = tokenizer.encode(tokenizer.decode(known, { special: true }) + text);
  // What is kept stays as it is; then the text is spelled by itself.
  return known.every((token, i) => whole[i] === token) ? whole.slice(known.length) : tokenizer.encode(text);
};

/** A prompt as text, without what another model's tokenizer wraps it in again (a BOS, where the model wants one). */
export const unwrappedText = (tokens: readonly number[], tokenizer: Tokenizer): string => {
  const wrapped = tokenizer.encode('', { special: true });
  const own = wrapped.length > 0 && wrapped.every((token, i) => tokens[i] === token) ? wrapped.length : 0;
  return tokenizer.decode(tokens.slice(own), { special: true });
};
