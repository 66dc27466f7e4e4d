import { describe, expect, it } from 'vitest';
import { isWithin, lengthsOf } from './pattern-texts.ts';

const following = (left = 100_000) => ({ refuse: (what: string): Error => new Error(what), steps: { left } });

describe('all texts of one pattern match another', () => {
  it.each([
    ['a{2,3}', '^a+$', true],
    ['a{0,3}', '^a+$', false],
    ['(ab|cd){2}', '[a-d]{4}', true],
    ['[ab]{4}', '(ab|cd){2}', false],
    ['', '^$|^x$', true],
    ['x', '^$|^x$', true],
    ['xx', '^$|^x$', false],
    ['[a-z]?b', '.*b', true],
    ['é{1,2}', '\\w+', false],
    ['é{1,2}', '\\S+', true],
    ['[0-9]{3}', '(?<year>\\d)+?', true],
    ['a|b', '[^]', true],
    ['a', '[]', false],
    ['.', '[^\\n]', true],
    ['\\s', '.', false],
    ['a{0,2}b', '^(?!ab)(?!.*aa).*$', false],
    ['[b-d]b', '^(?!ab)(?!.*aa).*$', true],
    ['(a|b)(a|b)', '^(?!.*aa)[ab]*$', false],
    ['(ab|ba|b)', '^(?!.*aa)[ab]*$', true],
  ])('%s within %s: %s', (texts, pattern, expected) => {
    expect(isWithin(texts, pattern, following())).toBe(expected);
  });

  it.each(['(?=a)b', 'b(?!a)', '(a(?!b))', '(?<!a)b'])('%s: a look-around elsewhere is refused', (pattern) => {
    expect(() => isWithin('b', pattern, following())).toThrow('look-around');
  });

  it.each(['(a', 'a)', '*a', '(a{1000}){1000}', `${'('.repeat(199)}a${')'.repeat(199)}`, 'a^b', 'a$b', '\\1'])(
    '%s is refused',
    (pattern) => {
      expect(() => isWithin('a', pattern, following())).toThrow();
    },
  );
});

it.each([
  ['', 0, 0],
  ['a?b{2,5}', 2, 6],
  ['(ab|c)*', 0, Number.POSITIVE_INFINITY],
  ['x+', 1, Number.POSITIVE_INFINITY],
  ['(a|bcd)(e|fg)?', 1, 5],
  ['(a?){3}', 0, 3],
  ['\u{1F600}', 1, 1],
])('%s has texts of %d to %d characters', (pattern, least, most) => {
  expect(lengthsOf(pattern, following())).toEqual([least, most]);
});

it('steps are counted, for all patterns together', () => {
  const shared = following(3000);
  const compare = () => isWithin('[a-z]{1,30}@[a-z]{1,30}', '^[^@]+@[^@]+$', shared);
  expect(compare()).toBe(true);
  expect(() => Array.from({ length: 100 }, compare)).toThrow('too many steps');
  expect(() => lengthsOf('([a-z]{0,1000}){0,4}', following())).toThrow('too many steps');
});
