import { describe, expect, it } from 'vitest';
import { processorLimit } from '../testing/slowness.ts';
import { AddedTokens } from './added-tokens.ts';

/** What tokenizers 0.23.3 finds; the tokens are in brackets. */
const CASES = [
  [{}, 'a foo fofoo', 'a [foo] [fo][foo]'],
  [{ single_word: true }, 'foo a foo  b', '[foo] a [foo]  b'],
  [{ single_word: true }, 'foob éfoo _foo.', 'foob éfoo _foo.'],
  [{ single_word: true }, 'fofoo foo', '[fo]foo [foo]'],
  [{ lstrip: true }, 'a foo  b\u00a0\n foo', 'a[ foo]  b[\u00a0\n foo]'],
  [{ rstrip: true }, 'a foo  b foo\u00a0\n foo', 'a [foo  ]b [foo\u00a0\n ][foo]'],
  [{ single_word: true, lstrip: true }, 'fofoo foo', '[fo]foo[ foo]'],
] as const;

describe('added tokens', () => {
  it.each(CASES)('%j in %j', (kind, text, expected) => {
    const tokens = new AddedTokens([
      { id: 0, content: 'foo', ...kind },
      { id: 1, content: 'fo' },
    ]);
    const found = tokens.split(text).map((section) => (section.token ? `[${section.text}]` : section.text));
    expect(found.join('')).toBe(expected);
  });

  it('of white space are found in white space that one before them took, as tokenizers 0.23.3 has it', () => {
    const found = (kind: object) =>
      new AddedTokens([{ id: 0, content: '  ', ...kind }]).split('a     b').filter(({ token }) => token).length;
    expect(found({ rstrip: true })).toBe(2);
    expect(found({ rstrip: true, lstrip: true })).toBe(1);
  });

  it('take long white space once, however many of them are in it', () => {
    const tokens = new AddedTokens([{ id: 0, content: ' ', rstrip: true }]);
    const start = process.cpuUsage();
    expect(tokens.split(' '.repeat(32_000))).toHaveLength(32_000);
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    expect(ms).toBeLessThan(processorLimit(ms, 1000));
  });
});
