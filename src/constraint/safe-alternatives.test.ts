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

it('refuses a class of a grammar that XGrammar misreads', async () => {
  await expect(compiler.compile({ grammar: 'root ::= [aé]*' }, reader)).rejects.toMatchObject({
    code: 'bad-constraint',
    message: expect.stringContaining('beyond ASCII'),
  });
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
