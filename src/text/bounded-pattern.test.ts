import { describe, expect, it } from 'vitest';
import { pick, random } from '../testing/fuzz/random.ts';
import { PRE_TOKENIZERS } from '../weights/gguf/pre-tokenizers.ts';
import { BoundedPattern, Steps } from './bounded-pattern.ts';

/** The library's own pieces, which it puts in the place of `\b`, `\w`, `^` and of classes that overlap. */
const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]';
const PATTERNS = [
  ...new Set(Object.values(PRE_TOKENIZERS).flatMap(({ patterns }) => patterns)),
  `(?:(?<!${WORD})(?=${WORD})|(?<=${WORD})(?!${WORD}))`,
  '(?:(?<![\\s\\S])|(?<=\\n))\\p{L}+(?:(?=\\n)|(?![\\s\\S]))',
  '(?:(?=(?:[a-z]|[^\\p{L}]))[\\s\\S])+',
  '\\p{N}{1,3}(?=(?:\\p{N}{3})*\\b)|[^]',
  '(?<=a|bc)\\s|(?<!ab+)c',
  '(a|ab)(c|bcd)*?d',
  '(?:a*)*b|(?:a?b?)+c|(?:)+d',
  '(?:\\u{1f642}|\\ud83d\\ude43|\\x41|[\\u{1f600}-\\u{1f64f}])+?',
  '\\bthe\\b|\\Bx|^.|.$|[\\]\\-^]',
  '(?<name>a{2,4}b{0}){1,2}c{2,}?',
];
const PARTS = ['a', 'b', 'c', 'd', 'aa', 'ab', 'the', 'x', ' ', '  ', '\n', '\r\n', '\t', "'s", "'LL", '12', '1234567'];
const OTHERS = [
  '.',
  '-]',
  'É',
  'ß',
  'Ida',
  'stones',
  '中文',
  'か',
  '🙂',
  '🙃',
  '\ud83d',
  '\udc00',
  '\u00a0',
  'e\u0301',
  '٣',
  '_',
  '/',
];

const text = (below: (n: number) => number): string =>
  Array.from({ length: below(24) }, () => pick([...PARTS, ...OTHERS], below)).join('');

const refilled = (characters = 0): Steps => {
  const steps = new Steps();
  steps.refill(characters);
  return steps;
};

describe('a pattern that counts its steps', () => {
  it.each(PATTERNS)('finds what the browser finds: %s', (source) => {
    const native = new RegExp(source, 'gu');
    const bounded = new BoundedPattern(native, refilled());
    const below = random(PATTERNS.indexOf(source) + 1);
    for (let i = 0; i < 300; i++) {
      const given = text(below);
      const shown = `${JSON.stringify(given)} by ${source}`;
      const places = (pattern: RegExp) => [...given.matchAll(pattern)].map((found) => [found.index, found[0]]);
      expect(places(bounded), shown).toEqual(places(native));
      expect(given.match(bounded), shown).toEqual(given.match(native));
      expect(given.replaceAll(bounded, '▁'), shown).toBe(given.replaceAll(native, '▁'));
      if (!source.includes('(a|')) expect(given.split(bounded), shown).toEqual(given.split(native));
    }
  });

  it.each([
    '(a+)+$',
    '(?:a|aa)+$',
    '(?:a?){40}a{40}',
    '(?:a{1,3}){2,}$',
    '(?:a*)*(?:a*)*$',
    'a*a*a*a*a*a*b',
    '(?=(a+)+b)a',
  ])('ends when its steps are used up: %s', (source) => {
    const hostile = `${'a'.repeat(3000)}!`;
    const start = performance.now();
    expect(() => hostile.match(new BoundedPattern(new RegExp(source, 'gu'), refilled(hostile.length)))).toThrow(
      /tokenizer\.json: the pattern ".*" takes too many steps for this text/,
    );
    console.log(`${source}: ${(performance.now() - start).toFixed()} ms`);
  });

  it('has steps enough for 3500 spaces in a row, which one published pattern reads for each of them', () => {
    for (const source of PATTERNS) {
      const native = new RegExp(source, 'gu');
      const long = `${' '.repeat(3500)}x${'1'.repeat(3500)}${'É'.repeat(3500)}${'中'.repeat(3500)}\n`;
      const bounded = new BoundedPattern(native, refilled(long.length));
      expect(long.match(bounded)?.length).toBe(long.match(native)?.length);
    }
  });

  it('reads an empty group that is counted without end', () => {
    for (const source of ['(?:){1000000000}a', '(?:(?:){20000}){20000}a']) {
      const native = new RegExp(source, 'gu');
      expect('bab'.match(new BoundedPattern(native, refilled()))).toEqual(['a']);
    }
  });

  it('refuses what it cannot read', () => {
    const open = (source: string) => () => new BoundedPattern(new RegExp(source, 'gu'), refilled());
    expect(open('(a)\\1')).toThrow('refers back to a group');
    expect(open('(?:(?:(?:a|b){100}){100}c?){100}')).toThrow('is too long');
  });
});
