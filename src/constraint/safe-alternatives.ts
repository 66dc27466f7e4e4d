// Writes a grammar so that XGrammar 0.1.27 keeps it. That version joins states of a rule's automaton by two rules at once,
// which lets `"baab" | "abbaa" | "baaaa"` also match "abbb" (its issue 618; repaired after this version). It cannot happen
// where the alternatives of every rule begin with different bytes. So alternatives that begin alike are factored, and where
// that is not enough, each becomes a rule of its own. The input is what XGrammar prints of a grammar that it has read:
// rules of alternatives of sequences, without brackets inside.

import { type Atom, isClass, isName, isStar, isText, rangesOf, type Sequence, split } from './atoms.ts';
import { classesAsBytes, isMisread } from './byte-classes.ts';
import { finiteRules } from './finite-rules.ts';

/** A rule that matches the empty text. XGrammar does not put a rule that refers to another one in the place of its name. */
const NOTHING = 'nothing_';

const TOKEN = /"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]\*?|[\w.-]+(?:\{\d+, -?\d+\})?|[()|]/gs;

const utf8 = new TextEncoder();
const LAST_BYTE = 0xff;

/** First bytes of an atom that is written out. The characters of a class are bytes. */
const firstBytes = (atom: Atom): readonly number[] => {
  const ranges = rangesOf(atom);
  if (!isClass(atom)) return [...utf8.encode(String.fromCodePoint(ranges[0]?.[0] ?? 0))].slice(0, 1);
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: Math.max(0, Math.min(last, LAST_BYTE) - first + 1) }, (_, i) => first + i),
  );
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
      // A loop that follows no text is joined with what comes before or after it.
      const guarded = sequence.flatMap((atom, i) =>
        isStar(atom) && !isText(sequence[i - 1]) ? [NOTHING, atom] : [atom],
      );
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
      for (const atom of this.#written(first as Atom)) {
        const bytes = new Set(firstBytes(atom));
        for (const byte of bytes) if (seen.has(byte)) return false;
        for (const byte of bytes) seen.add(byte);
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
    rules.set(name, sequences);
    // A look-ahead, which only saves XGrammar work.
    const end = body.slice(at).trimEnd();
    if (!end.match(TOKEN)?.some(isMisread)) ends.set(name, end);
  }
  const named = kept.flatMap((text) => text.match(/(?<=", )[\w.-]+(?=\))/g) ?? []);
  const finite = finiteRules(classesAsBytes(rules), ['root', ...named]);
  const writer = new Writer(finite);
  for (const [name, sequences] of finite) writer.rule(name, sequences, ends.get(name));
  return [...writer.written, `${NOTHING} ::= ""`, ...kept].join('\n');
};
