// The text of tokens, and the result of an answer: the last number of its text, or else its last line.
import type { RunContext } from '../core/system.ts';

const NUMBER = /-?\d[\d,]*(?:\.\d+)?/g;

type TokenTexts = Pick<RunContext, 'tokenText' | 'stopTokens'>;

/** Without stop tokens; the token ids where the models have no text. */
export const textOf = (tokens: readonly number[], { tokenText, stopTokens }: TokenTexts): string =>
  tokenText ? tokens.map((token) => (stopTokens.has(token) ? '' : tokenText(token))).join('') : tokens.join(' ');

export const resultOf = (tokens: readonly number[], texts: TokenTexts): string => {
  if (!texts.tokenText) return tokens.join();
  const text = textOf(tokens, texts);
  const [number] = text.match(NUMBER)?.slice(-1) ?? [];
  return number?.replaceAll(',', '') ?? text.trim().split('\n').at(-1) ?? '';
};
