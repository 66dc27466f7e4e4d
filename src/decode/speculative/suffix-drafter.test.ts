// What the suffix drafter proposes where no match of tokens goes on: after a token that was changed, and where the same
// words are other tokens.
import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../model/interface.ts';
import type { Sequence } from '../core/system.ts';
import { type SuffixContext, SuffixSource } from './suffix-drafter.ts';

/** One letter a token, but for " ma" and "ma". */
const WORDS = [' ma', 'ma'];
const idOf = (text: string): number => (WORDS.includes(text) ? 1000 + WORDS.indexOf(text) : text.charCodeAt(0));
const tokenText = (token: number): string => WORDS[token - 1000] ?? String.fromCharCode(token);
const tokensOf = (text: string): number[] => (text.match(/ ma|ma|./gs) ?? []).map(idOf);
const spelled = { tokenText, retokenise: (_: readonly number[], text: string) => tokensOf(text) };

const unspelled = { tokenText: null, retokenise: null };

const sourceOf = (spelling: Pick<SuffixContext, 'tokenText' | 'retokenise'>) =>
  new SuffixSource(
    { models: { target: {} as LanguageModel }, fresh: true, ...spelling },
    { match: 32, depth: 15, nodes: 15 },
  );
const sequence = (text: string): Sequence => ({ tokens: tokensOf(text) }) as unknown as Sequence;
const proposed = (source: SuffixSource, text: string, most = 15): string | null => {
  const tree = source.propose(sequence(text), most)?.tree;
  return tree && 'tokens' in tree
    ? tree.tokens
        .slice(1)
        .map((token) => tokenText(token as number))
        .join('')
    : null;
};
const commit = (source: SuffixSource, text: string): void =>
  source.observe({ choices: tokensOf(text).map((token) => ({ token, logprob: 0 })) });

describe('a copy with a change in it', () => {
  const begin = 'let a = fn(1); return >let a';

  it('goes on after one token that differs', () => {
    const source = sourceOf(unspelled);
    expect(proposed(source, begin)).toBe(' = fn(1); retur');
    commit(source, ' = gn(');
    expect(proposed(source, `${begin} = gn(`)).toBe('1); return >let');
    commit(source, '2');
    expect(proposed(source, `${begin} = gn(2`)).toBe('); return >let ');
  });

  it('ends with the second one in a row, and where little was copied', () => {
    const source = sourceOf(unspelled);
    proposed(source, begin);
    commit(source, ' = gX');
    expect(proposed(source, `${begin} = gX`)).toBeNull();
    const short = sourceOf(unspelled);
    expect(proposed(short, 'abc!xb')).toBe('c!xbc!xbc!xbc!x');
    commit(short, 'Y');
    expect(proposed(short, 'abc!xbY')).toBeNull();
  });
});

describe('words that are other tokens', () => {
  it('are found by their letters, and what followed is split anew', () => {
    const text = 'of mary:"ma';
    expect(proposed(sourceOf(spelled), text, 4)).toBe('ry:"');
    expect(proposed(sourceOf(unspelled), text)).toBeNull();
  });

  it('count only where the match is longer than that of tokens', () => {
    expect(proposed(sourceOf(spelled), 'ba1 xa2 xa', 1)).toBe('2');
    // The letters match longer ago: "xma" in front of "4", one token of it in front of "3".
    expect(proposed(sourceOf(spelled), 'x ma4 yma3 x ma', 1)).toBe('4');
    expect(proposed(sourceOf(spelled), '- ma4 yma3 -ma', 1)).toBe('3');
  });
});
