// What an answer comes to: the last number of its text, or else its last line.
import type { RunContext } from './system.ts';

const NUMBER = /-?\d[\d,]*(?:\.\d+)?/g;

export const resultOf = (
  tokens: readonly number[],
  { spell, stopTokens }: Pick<RunContext, 'spell' | 'stopTokens'>,
): string => {
  if (!spell) return tokens.join();
  const text = tokens.map((token) => (stopTokens.has(token) ? '' : spell(token))).join('');
  const [number] = text.match(NUMBER)?.slice(-1) ?? [];
  return number?.replaceAll(',', '') ?? text.trim().split('\n').at(-1) ?? '';
};
