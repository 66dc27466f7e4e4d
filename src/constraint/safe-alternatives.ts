// Writes a grammar so that XGrammar 0.1.27 keeps it. That version joins states of a rule's automaton by two rules at once,
// which lets `"baab" | "abbaa" | "baaaa"` also match "abbb" (its issue 618; repaired after this version). It cannot happen
// where the alternatives of every rule begin with different bytes. So alternatives that begin alike are factored, and where
// that is not enough, each becomes a rule of its own. The input is what XGrammar prints of a grammar that it has read:
// rules of alternatives of sequences, without brackets inside.

import { badConstraint } from '../base/refuse.ts';
import { finiteRules } from './finite-rules.ts';
import { LAST_OF_ONE } from './literal.ts';

type Atom = string;
type Sequence = readonly Atom[];

/** A rule that matches the empty text. XGrammar does not put a rule that refers to another one in the place of its name. */
const NOTHING = 'nothing_';

const TOKEN = /"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]\*?|[\w.-]+(?:\{\d+, -?\d+\})?|[()|]/gs;
const CHARACTER = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]/gsu;

const isText = (atom: Atom | undefined): boolean => atom?.[0] === '"';
const isClass = (atom: Atom | undefined): boolean => atom?.[0] === '[';
const isStar = (atom: Atom | undefined): boolean => isClass(atom) && atom?.at(-1) === '*';
const isName = (atom: Atom): boolean => !isText(atom) && !isClass(atom);

/** A text as one atom a character. */
const split = (atom: Atom): readonly Atom[] =>
  isText(atom) ? (atom.slice(1, -1).match(CHARACTER) ?? []).map((character) => `"${character}"`) : [atom];

const NAMED: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27, 0: 0 };

const codeOf = (character: string): number => {
  if (character[0] !== '\\') return character.codePointAt(0) as number;
  const sign = character[1] as string;
  if (character.length > 2) return Number.parseInt(character.slice(2), 16);
  return NAMED[sign] ?? (sign.codePointAt(0) as number);
};

/** Stands for all bytes beyond ASCII. */
const MORE = LAST_OF_ONE + 1;

/** First bytes of an atom that is written out. */
const firstBytes = (atom: Atom): ReadonlySet<number> => {
  const bytes = new Set<number>();
  const add = (first: number, last: number): void => {
    for (let code = first; code <= Math.min(last, LAST_OF_ONE); code++) bytes.add(code);
    if (last > LAST_OF_ONE) bytes.add(MORE);
  };
  const written = (isStar(atom) ? atom.slice(0, -1) : atom).slice(1, -1);
  const negated = isClass(atom) && written[0] === '^';
  const characters = (negated ? written.slice(1) : written).match(CHARACTER) ?? [];
  for (let i = 0; i < characters.length; i++) {
    const first = codeOf(characters[i] as string);
    const ranged = isClass(atom) && characters[i + 1] === '-' && i + 2 < characters.length;
    const last = ranged ? codeOf(characters[i + 2] as string) : first;
    if (isClass(atom) && last > LAST_OF_ONE)
      throw badConstraint(
        `the class ${atom} of the grammar holds characters beyond ASCII, which the grammar engine misreads`,
        'Write them as alternatives: ("é" | "è").',
      );
    add(first, last);
    if (ranged) i += 2;
  }
  if (!negated) return bytes;
  return new Set([
    ...Array.from({ length: LAST_OF_ONE + 1 }, (_, code) => code).filter((code) => !bytes.has(code)),
    MORE,
  ]);
};

const commonLength = (sequences: readonly Sequence[]): number => {
  const [one = []] = sequences;
  let length = 0;
  while (length < one.length && sequences.every((each) => each[length] === one[length])) length++;
  return length;
};

class Writer {
  readonly #rules: ReadonlyMap<string, readonly Sequence[]>;
  readonly written: string[] = [];
  #names = 0;

  constructor(rules: ReadonlyMap<string, readonly Sequence[]>) {
    this.#rules = rules;
  }

  /** `end`: what stands after the alternatives. */
  rule(name: string, sequences: readonly Sequence[], end = ''): void {
    const nullable = sequences.some(({ length }) => length === 0);
    const groups = new Map<Atom, Sequence[]>();
    for (const sequence of sequences) {
      const [first] = sequence;
      if (first !== undefined) groups.set(first, [...(groups.get(first) ?? []), sequence]);
    }
    const alternatives = [...groups.values()].map((group): Sequence => {
      const [one] = group as [Sequence];
      const same = commonLength(group);
      const rests = [...new Map(group.map((each) => [each.slice(same).join(' '), each.slice(same)])).values()];
      return rests.length === 1 ? one : [...one.slice(0, same), this.#new(name, rests)];
    });
    const safe = alternatives.length === 1 || this.#differ(alternatives);
    const texts = alternatives.map((sequence) => {
      // A loop at the beginning of a rule is joined with what comes after it.
      const guarded = isStar(sequence[0]) ? [NOTHING, ...sequence] : sequence;
      return (safe ? guarded : [this.#new(name, [[...guarded, NOTHING]])]).join(' ');
    });
    this.written.push(
      `${name} ::= (${[...(nullable ? ['""'] : []), ...texts.map((text) => `(${text})`)].join(' | ')})${end}`,
    );
  }

  #new(name: string, sequences: readonly Sequence[]): string {
    const own = `${name}_part${this.#names++}_`;
    this.rule(own, sequences);
    return own;
  }

  /** No two of them begin with the same byte, also where XGrammar writes a rule out in the place of its name. */
  #differ(alternatives: readonly Sequence[]): boolean {
    const seen = new Set<number>();
    for (const [first] of alternatives) {
      if (isStar(first)) return false;
      for (const atom of this.#written(first as Atom))
        for (const byte of firstBytes(atom)) {
          if (seen.has(byte)) return false;
          seen.add(byte);
        }
    }
    return true;
  }

  /** What an alternative that begins with this atom begins with; nothing where it keeps a name. */
  #written(first: Atom): readonly Atom[] {
    if (!isName(first)) return [first];
    const sequences = this.#rules.get(first);
    if (!sequences || sequences.some((sequence) => sequence.length === 0 || sequence.some(isName))) return [];
    return sequences.map(([atom]) => atom as Atom);
  }
}

/** XGrammar prints two digits after \x, and reads as many as follow. */
export const twoDigits = (grammar: string): string =>
  grammar.replaceAll(/\\(?:x([0-9a-fA-F]{2})|.)/gs, (sign, digits) => (digits ? `\\u00${digits}` : sign));

/** `printed`: `Grammar.toString()` of XGrammar. */
export const safeAlternatives = (printed: string): string => {
  const rules = new Map<string, readonly Sequence[]>();
  const kept: string[] = [];
  const ends = new Map<string, string>();
  for (const text of twoDigits(printed).split(/\n(?=[\w.-]+ ::= )/)) {
    const [, name = '', body = ''] = /^([\w.-]+) ::= ([\s\S]*)$/.exec(text) ?? [];
    if (body.startsWith('TagDispatch(')) {
      kept.push(text);
      continue;
    }
    const tokens = body.match(TOKEN) ?? [];
    const sequences: Atom[][] = [[]];
    let depth = 0;
    let at = 0;
    for (const token of tokens) {
      at = body.indexOf(token, at) + token.length;
      if (token === '(') depth++;
      else if (token === ')' && --depth === 0) break;
      else if (token === '|') sequences.push([]);
      else if (token !== ')' && token !== '""')
        sequences
          .at(-1)
          ?.push(
            ...split(token.replace(/\{(\d+), (-?\d+)\}$/, (_, least, most) => `{${least},${most < 0 ? '' : most}}`)),
          );
    }
    for (const atom of sequences.flat()) if (isClass(atom)) firstBytes(atom);
    rules.set(name, sequences);
    ends.set(name, body.slice(at).trimEnd());
  }
  const named = kept.flatMap((text) => text.match(/(?<=", )[\w.-]+(?=\))/g) ?? []);
  const finite = finiteRules(rules, ['root', ...named]);
  const writer = new Writer(finite);
  for (const [name, sequences] of finite) writer.rule(name, sequences, ends.get(name));
  return [...writer.written, `${NOTHING} ::= ""`, ...kept].join('\n');
};
