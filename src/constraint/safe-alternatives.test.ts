// Constraints against what they mean, on random choices, regular expressions and grammars: every text of a few letters
// is allowed if and only if JavaScript's own expression matches it. XGrammar alone fails this.
import { beforeAll, describe, expect, it } from 'vitest';
import { lettersTokenizer } from '../testing/toys/letters.ts';
import { ConstraintCompiler } from './compile.ts';
import type { Constraint } from './constraint.ts';
import { ConstraintMatcher } from './matcher.ts';
import { safeAlternatives } from './safe-alternatives.ts';
import { loadXGrammar } from './xgrammar.ts';

const LETTERS = [...'abcéèħ'];

/** A linear congruential generator: the same cases every time. */
const randomOf = (seed: number) => (n: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

interface Alphabet {
  readonly letters: number;
  readonly longest: number;
  readonly classes: readonly string[];
}
const ASCII: Alphabet = { letters: 3, longest: 6, classes: ['[ab]', '[bc]', '[^a]', '[a]'] };
const BEYOND: Alphabet = { letters: 6, longest: 3, classes: ['[éħ]', '[éè]', '[aé]', '[^a]'] };

let compiler: ConstraintCompiler;
beforeAll(() => {
  compiler = new ConstraintCompiler();
});

const reader = { tokenizer: lettersTokenizer(LETTERS), vocabulary: 7, marks: new Map(), stopTokens: new Set<number>() };

/** Texts that are allowed and should not be, or the other way round. */
const wrongTexts = async (
  constraint: Constraint,
  pattern: RegExp,
  { letters, longest }: Alphabet,
): Promise<string[]> => {
  using matcher = await ConstraintMatcher.open((await compiler.compile(constraint, reader)).compiled);
  const wrong: string[] = [];
  const walk = (text: readonly number[], allowed: boolean): void => {
    const written = text.map((id) => LETTERS[id]).join('');
    if (text.length > 0 && (allowed && matcher.complete(text)) !== pattern.test(written)) wrong.push(written);
    if (text.length === longest) return;
    for (let id = 0; id < letters; id++) walk([...text, id], allowed && matcher.allows(text, id));
  };
  walk([], true);
  return wrong;
};

const wordOf = (random: (n: number) => number, { letters }: Alphabet): string =>
  Array.from({ length: 1 + random(5) }, () => LETTERS[random(letters === 3 ? 2 : letters)]).join('');

const patternOf = (random: (n: number) => number, alphabet: Alphabet, depth = 4): string => {
  const inner = (): string => patternOf(random, alphabet, depth - 1);
  const word = (): string => wordOf(random, alphabet);
  const own = alphabet.classes[random(alphabet.classes.length)] as string;
  const repeat = (): string => ['?', '*', '+', '{2}', '{1,2}', '{0,3}', '{2,}', '{1,17}'][random(8)] as string;
  switch (depth === 0 ? random(2) : random(8)) {
    case 0:
      return LETTERS[random(alphabet.letters)] as string;
    case 1:
      return own;
    case 2:
      return own + repeat();
    case 3:
      return `(${word()}|${word()}|${word()})`;
    case 4:
      return `(${inner()}|${inner()}|${inner()})`;
    case 5:
      return `(${inner()})${repeat()}`;
    default:
      return inner() + inner();
  }
};

describe.each([ASCII, BEYOND])('an alphabet of $letters letters', (alphabet) => {
  it('choices', async () => {
    const random = randomOf(1);
    for (let i = 0; i < 60; i++) {
      const choice = [...new Set(Array.from({ length: 2 + random(4) }, () => wordOf(random, alphabet)))];
      expect(await wrongTexts({ choice }, new RegExp(`^(${choice.join('|')})$`), alphabet), choice.join()).toEqual([]);
    }
  });

  it('regular expressions', async () => {
    const random = randomOf(2);
    for (let i = 0; i < 80; i++) {
      const regex = patternOf(random, alphabet);
      expect(await wrongTexts({ regex }, new RegExp(`^(${regex})$`, 'u'), alphabet), regex).toEqual([]);
    }
  });
});

it.each([
  ['root ::= "-" [a-c] [ab] | [a-c] [ab] [ab] | [a-c] [ab] [ab] [ab]', /^[a-c][ab]{2,3}$/],
  ['root ::= [ab]* [ab] "c"', /^[ab]+c$/],
  ['root ::= x "c" | "ab"\nx ::= "ab" | "abb"', /^(abc|abbc|ab)$/],
  ['root ::= "a" root "b" | "ab" | "c"', /^(c|ab|acb|aabb|aacbb|aaabbb)$/],
  ['root ::= loop{0,2} "b" | loop | "c" loop\nloop ::= "a" loop', /^b$/],
  ['root ::= "\\x61b" [^\\x00-\\x61]', /^ab[bc]$/],
])('the grammar %s', async (grammar, pattern) => {
  expect(await wrongTexts({ grammar }, pattern, ASCII)).toEqual([]);
});

/** The first and last characters of one to four bytes, those around the classes below, and all spaces of ECMAScript. */
const CHARACTERS = [
  ...'\t\n\v\f\r !"*?AZaz\x7f\x80\x9f\xa0\xa1éħ\u07ff\u0800\u1680\u1fff\u2000\u200a\u200b\u2027\u2028\u2029\u202a',
  ...'\u202f\u205f\u2060\u3000漢\ud7ff\ue000\ufeff\uffff\u{10000}😀\u{3ffff}\u{40000}\u{10ffff}',
];

it.each([
  ...['\\s', '\\S', '\\w', '\\W', '\\D', '.', '[^\\s?]', '[ *?]', '[^ *]', '[\\s\\S]', '[^é-漢]', '[^\\n😀]'],
  ...[
    '[à-ÿ]',
    '[一-龥]',
    '[^😀]',
    '[😀-🙏]',
    '[aé-漢\ufeff]',
    '[^\\S\\n]',
    '[^\ue000-\u{10ffff}]',
    '[^\x80-\u{10ffff}]',
  ],
])('%s matches the characters that it matches in JavaScript, and others do not follow it', async (own) => {
  const letters = [...CHARACTERS, 'é漢', '漢\u2028', ' !'];
  const ownReader = { ...reader, tokenizer: lettersTokenizer(letters), vocabulary: letters.length + 1 };
  for (const regex of [own, `${own}*`, `${own}+a`, `(${own}{1,2}|aa)?`, `${own}{0,130}`]) {
    const wrong: string[] = [];
    using matcher = await ConstraintMatcher.open((await compiler.compile({ regex }, ownReader)).compiled);
    const expected = new RegExp(`^(${regex})$`, 'u');
    const mask = await matcher.allowed([]);
    for (const [first, a] of letters.entries()) {
      expect(((mask[first >>> 5] as number) >>> (first & 31)) & 1, `${regex} ${a}`).toBe(
        Number(matcher.allows([], first)),
      );
      for (const text of [[first], [first, CHARACTERS.indexOf('a')]]) {
        const written = text.length === 1 ? a : `${a}a`;
        const allowed = matcher.allows([], first) && (text.length === 1 || matcher.allows([first], text[1] as number));
        if ((allowed && matcher.complete(text)) !== expected.test(written)) wrong.push(written);
      }
    }
    expect(wrong, regex).toEqual([]);
  }
});

it.each([
  ['\\S{129}', 129, 129],
  ['.{128,}', 128, 139],
  ['(.|a){0,130}', 0, 130],
  ['[^é]{2,131}', 2, 131],
])('%s matches %i to %i characters', async (regex, least, most) => {
  using matcher = await ConstraintMatcher.open((await compiler.compile({ regex }, reader)).compiled);
  const text: number[] = [];
  const complete: number[] = [];
  while (text.length < 140 && (text.length === 0 || matcher.allows(text.slice(1), 0))) {
    if (matcher.complete(text)) complete.push(text.length);
    text.push(0);
  }
  expect(complete).toEqual(Array.from({ length: most - least + 1 }, (_, i) => least + i));
});

it.each(['[^a][^a]*[^b]', '[^b]{2,}[^a]', 'a[^a][^b]*[^ab]', '([^a]|aa)[^a]*[^b]'])(
  'a loop after a class: %s',
  async (regex) => {
    expect(await wrongTexts({ regex }, new RegExp(`^(${regex})$`, 'u'), BEYOND)).toEqual([]);
  },
);

it('a grammar may name classes beyond ASCII', async () => {
  expect(await wrongTexts({ grammar: 'root ::= [aé-ħ]* [^é]' }, /^[aé-ħ]*[^é]$/, BEYOND)).toEqual([]);
});

it('control: XGrammar alone allows what a choice does not hold', async () => {
  const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } = await loadXGrammar();
  const info = await TokenizerInfo.createTokenizerInfo(['a', 'b', 'c', ''], 'raw', false, 4, [3]);
  const own = await GrammarCompiler.createGrammarCompiler(info, false);
  const accepts = async (text: string): Promise<boolean> => {
    const matcher = await GrammarMatcher.createGrammarMatcher(await own.compileGrammar(text));
    return [0, 1, 1, 1].every((id) => matcher.acceptToken(id));
  };
  const choices = (await Grammar.fromEBNF('root ::= "baab" | "abbaa" | "baaaa"')).toString();
  expect(await accepts(choices)).toBe(true);
  expect(await accepts(safeAlternatives(choices))).toBe(false);
});
