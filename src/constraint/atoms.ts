// The parts of a rule as XGrammar prints it: texts, classes of characters, and names of other rules.
import { complement, type Range } from './literal.ts';

export type Atom = string;
export type Sequence = readonly Atom[];

const CHARACTER = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]/gsu;

export const isText = (atom: Atom | undefined): boolean => atom?.[0] === '"';
export const isClass = (atom: Atom): boolean => atom[0] === '[';
/** A class that is repeated. */
export const isStar = (atom: Atom | undefined): boolean => atom !== undefined && isClass(atom) && atom.at(-1) === '*';
export const isName = (atom: Atom): boolean => !isText(atom) && !isClass(atom);

/** A text as one atom a character. */
export const split = (atom: Atom): readonly Atom[] =>
  isText(atom) ? (atom.slice(1, -1).match(CHARACTER) ?? []).map((character) => `"${character}"`) : [atom];

const NAMED: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27, 0: 0 };

const codeOf = (character: string): number => {
  if (character[0] !== '\\') return character.codePointAt(0) as number;
  const sign = character[1] as string;
  if (character.length > 2) return Number.parseInt(character.slice(2), 16);
  return NAMED[sign] ?? (sign.codePointAt(0) as number);
};

/** What stands in the brackets of a class, or in the quotes of a text. */
export const writtenRanges = (atom: Atom): readonly Range[] => {
  const written = atom.slice(1, isStar(atom) ? -2 : -1);
  const characters = (isClass(atom) ? written.replace(/^\^/, '') : written).match(CHARACTER) ?? [];
  const ranges: Range[] = [];
  for (let i = 0; i < characters.length; i++) {
    const first = codeOf(characters[i] as string);
    const ranged = isClass(atom) && characters[i + 1] === '-' && i + 2 < characters.length;
    ranges.push([first, ranged ? codeOf(characters[i + 2] as string) : first]);
    if (ranged) i += 2;
  }
  return ranges;
};

/** The characters of a class, or of a text. */
export const rangesOf = (atom: Atom): readonly Range[] =>
  atom.startsWith('[^') ? complement(writtenRanges(atom)) : writtenRanges(atom);
