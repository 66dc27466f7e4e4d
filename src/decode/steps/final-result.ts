// What tokens say, and what an answer comes to: the last number of its text, or else its last line.
import type { RunContext } from '../core/system.ts';

const NUMBER = /-?\d[\d,]*(?:\.\d+)?/g;

type Words = Pick<RunContext, 'tokenText' | 'stopTokens'>;

/** Without what ends it; the ids of a model that has no text. */
export const textOf = (tokens: readonly number[], { tokenText, stopTokens }: Words): string =>
  tokenText ? tokens.map((token) => (stopTokens.has(token) ? '' : tokenText(token))).join('') : tokens.join(' ');

export const resultOf = (tokens: readonly number[], words: Words): string => {
  if (!words.tokenText) return tokens.join();
  const text = textOf(tokens, words);
  const [number] = text.match(NUMBER)?.slice(-1) ?? [];
  return number?.replaceAll(',', '') ?? text.trim().split('\n').at(-1) ?? '';
};
