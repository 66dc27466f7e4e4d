// A regular expression as EBNF. Groups, alternatives and repetitions are written alike in both; what remains are single
// characters and classes. The grammar matches whole texts. Between the quotes of a JSON string a quote, a backslash and
// control characters stand as escapes, so there every class is narrowed, and a pattern that asks for one of them by name is
// refused.
import { isMisread } from './byte-classes.ts';
import { LONGEST_GRAMMAR } from './grammar-size.ts';
import { characterClass, complement, intersection, type Range } from './literal.ts';

export type Refuse = (what: string, hint?: string) => Error;

const code = (character: string): number => character.codePointAt(0) as number;
const between = (first: string, last: string): Range => [code(first), code(last)];

const SETS: Readonly<Record<string, readonly Range[]>> = {
  d: [between('0', '9')],
  w: [between('0', '9'), between('A', 'Z'), between('_', '_'), between('a', 'z')],
  // Spaces and ends of lines of ECMAScript.
  s: [
    ...[between('\t', '\r'), between(' ', ' '), between('\u00a0', '\u00a0'), between('\u1680', '\u1680')],
    ...[between('\u2000', '\u200a'), between('\u2028', '\u2029'), between('\u202f', '\u202f')],
    ...[between('\u205f', '\u205f'), between('\u3000', '\u3000'), between('\ufeff', '\ufeff')],
  ],
};
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', v: '\v', f: '\f', 0: '\0' };

/** Any character but the end of a line. */
const ANY = complement([between('\n', '\n'), between('\r', '\r'), between('\u2028', '\u2029')]);
/** What a JSON string holds as it is. */
export const IN_JSON: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x10ffff],
];
/** Without U+0000, at which XGrammar ends a text. */
const TEXT: readonly Range[] = [[1, 0x10ffff]];

/** The most repetitions that a pattern may count; more makes grammars of thousands of rules. */
const MOST_REPEATS = 1000;

/**
 * From this count on XGrammar writes a loop that looks ahead. Over a class as bytes it cannot, and then a mask of tokens
 * takes it seconds. Other counts are a chain of rules, of which many can share the end.
 */
const LONG_COUNT = 128;

export interface PatternOptions {
  /** What the pattern is about: the characters between the quotes of a JSON string, or a text. */
  readonly json: boolean;
  readonly refuse: Refuse;
  /** Makes a rule of its own; its name. */
  readonly named: (right: string) => string;
}

/** What a pattern is made of. */
export type Part =
  | { readonly ranges: readonly Range[]; readonly shown: string }
  | { readonly alternatives: readonly (readonly Part[])[] }
  | { readonly part: Part; readonly count: Count };

const COUNTS: Readonly<Record<string, Count>> = {
  '*': { least: 0, most: null, sign: '*' },
  '+': { least: 1, most: null, sign: '+' },
  '?': { least: 0, most: 1, sign: '?' },
};

/** A pattern, or a group of it. `not`: what a look-ahead at its very start excludes. */
interface Group {
  readonly alternatives: readonly (readonly Part[])[];
  readonly not: readonly Group[];
}

export const readPattern = (pattern: string, refuse: Refuse): Group =>
  readGroup(new PatternReader(pattern, refuse), refuse, 0);

const readGroup = (reader: PatternReader, refuse: Refuse, depth: number): Group => {
  // As in grammar-size.ts.
  if (depth > 100) throw refuse('the pattern is nested more than 100 deep');
  const not: Group[] = [];
  let sequence: Part[] = [];
  const alternatives = [sequence];
  while (reader.more) {
    const character = reader.take();
    const atStart = depth === 0 && sequence.length === 0;
    if (character === ')') {
      if (depth === 0) throw refuse('the pattern closes a group that is not open');
      return { alternatives, not };
    }
    if (character === '|') {
      sequence = [];
      alternatives.push(sequence);
    } else if (character === '(') {
      if (reader.skip('?')) {
        if (atStart && alternatives.length === 1 && reader.skip('!')) {
          not.push(readGroup(reader, refuse, depth + 1));
          continue;
        }
        reader.skipMark();
      }
      sequence.push({ alternatives: readGroup(reader, refuse, depth + 1).alternatives });
    } else if (/[*+?{]/.test(character)) {
      const part = sequence.pop();
      if (!part || 'count' in part) throw refuse(`nothing stands before ${character} in the pattern`);
      sequence.push({ part, count: COUNTS[character] ?? reader.readCount() });
      reader.skip('?'); // lazy or not, the same texts match
    } else if (character === '^') {
      if (!atStart) throw refuse('^ inside a pattern is not supported', 'A pattern matches whole texts anyway.');
    } else if (character === '$') {
      if (depth > 0 || (reader.more && !reader.at('|')))
        throw refuse('$ inside a pattern is not supported', 'A pattern matches whole texts anyway.');
    } else sequence.push(reader.readSet(character));
  }
  if (depth > 0) throw refuse('a group of the pattern is not closed');
  return { alternatives, not };
};

/** The right-hand side of a rule that matches what the pattern matches from its first character to its last. */
export const patternGrammar = (pattern: string, options: PatternOptions): string => {
  const { alternatives, not } = readPattern(pattern, options.refuse);
  if (not.length > 0) throw lookAround(options.refuse);
  return grammarOf(alternatives, options);
};

/** The same of alternatives that were read. */
export const grammarOf = (alternatives: Group['alternatives'], { json, refuse, named }: PatternOptions): string => {
  const possible = json ? IN_JSON : TEXT;
  /** Characters that counts have written. */
  let written = 0;
  const write = (part: Part): string => {
    if ('alternatives' in part) return `( ${writeAll(part.alternatives)} )`;
    if ('ranges' in part) {
      const kept = intersection(part.ranges, possible);
      if (kept.length === 0)
        throw refuse(`the pattern asks for ${part.shown}, which ${json ? 'a JSON string escapes' : 'no answer holds'}`);
      return characterClass(kept);
    }
    const { count } = part;
    const own = write(part.part);
    if (count.sign) return own + count.sign;
    const isGroup = 'alternatives' in part.part;
    written += (isGroup ? 1 : own.length) * Math.max(count.least, count.most ?? 0);
    if (written > LONGEST_GRAMMAR) throw refuse('the counts of the pattern make it too long', 'Count less.');
    return counted(own, count, isGroup, named);
  };
  const writeAll = (alternatives: Group['alternatives']): string =>
    alternatives.map((parts) => parts.map(write).join(' ') || '""').join(' | ');
  return writeAll(alternatives);
};

const lookAround = (refuse: Refuse): Error =>
  refuse('look-around in a pattern is not supported', 'Write the texts that may match as alternatives.');

export interface Count {
  readonly least: number;
  /** Null: no limit. */
  readonly most: number | null;
  /** As EBNF has it too; absent where it is written in numbers. */
  readonly sign?: string;
}

/** A count of the part that stands before it. */
const counted = (part: string, { least, most }: Count, isGroup: boolean, named: PatternOptions['named']): string => {
  if (isGroup || (Math.max(least, most ?? 0) >= LONG_COUNT && !isMisread(part)))
    return `${part}{${least},${most ?? ''}}`;
  const needed = Array.from({ length: least }, () => part);
  if (most === null) return [...needed, `${part}*`].join(' ');
  let more = '';
  for (let i = least; i < most; i++) more = named(`(${part} ${more})?`);
  return [...needed, more].join(' ') || '""';
};

/** Reads a pattern character by character. */
class PatternReader {
  readonly #characters: readonly string[];
  readonly #refuse: Refuse;
  #at = 0;

  constructor(pattern: string, refuse: Refuse) {
    this.#characters = [...pattern];
    this.#refuse = refuse;
  }

  get more(): boolean {
    return this.#at < this.#characters.length;
  }

  at(character: string): boolean {
    return this.#characters[this.#at] === character;
  }

  take(): string {
    return this.#characters[this.#at++] ?? '';
  }

  skip(character: string): boolean {
    const found = this.at(character);
    if (found) this.#at++;
    return found;
  }

  /** The set of characters that this one, which has been taken, names; `shown`: for people. */
  readSet(character: string): { readonly ranges: readonly Range[]; readonly shown: string } {
    if (character === '.') return { ranges: ANY, shown: '.' };
    if (character === '[') return { ranges: this.#readClass(), shown: 'a class of characters' };
    if (character !== '\\') return { ranges: [between(character, character)], shown: JSON.stringify(character) };
    const next = this.take();
    const [set, control] = [SETS[next.toLowerCase()], CONTROLS[next]];
    if (set) return { ranges: next === next.toLowerCase() ? set : complement(set), shown: `\\${next}` };
    if (control) return { ranges: [between(control, control)], shown: `\\${next}` };
    if (next === '' || /[A-Za-z0-9]/.test(next))
      throw this.#refuse(`\\${next} in a pattern is not supported`, 'Write the characters themselves, or a class.');
    return { ranges: [between(next, next)], shown: next };
  }

  /** What stands after `(?`: a group that is not counted, or has a name. */
  skipMark(): void {
    const kind = this.take();
    if (kind === ':') return;
    if (kind !== '<' || this.at('=') || this.at('!')) {
      if (/[=!<]/.test(kind)) throw lookAround(this.#refuse);
      throw this.#refuse(`(?${kind} in a pattern is not supported`, 'Write the texts that may match as alternatives.');
    }
    while (this.more && !this.at('>')) this.take();
    if (!this.skip('>')) throw this.#refuse('the name of a group is not closed');
  }

  /** `{m}`, `{m,}` or `{m,n}`, from after its bracket on. */
  readCount(): Count {
    let text = '';
    while (this.more && !this.at('}')) text += this.take();
    if (!this.skip('}') || !/^\d+(,\d*)?$/.test(text)) throw this.#refuse(`{${text}} is no repetition`);
    const [first = '', last = first] = text.split(',');
    const [least, most] = [Number(first), last === '' ? null : Number(last)];
    if (Math.max(least, most ?? 0) > MOST_REPEATS)
      throw this.#refuse(`{${text}} repeats more than ${MOST_REPEATS} times`);
    if (most !== null && most < least) throw this.#refuse(`{${text}} ends before it begins`);
    return { least, most };
  }

  /** A class from after its opening bracket on. */
  #readClass(): readonly Range[] {
    const negated = this.skip('^');
    const ranges: Range[] = [];
    while (!this.skip(']')) {
      if (!this.more) throw this.#refuse('a class of the pattern is not closed');
      const first = this.#member();
      if (typeof first !== 'string') ranges.push(...first);
      else if (this.at('-') && this.#characters[this.#at + 1] !== ']') {
        this.#at++;
        const last = this.#member();
        if (typeof last !== 'string' || code(last) < code(first)) throw this.#refuse('a range in a class is wrong');
        ranges.push(between(first, last));
      } else ranges.push(between(first, first));
    }
    return negated ? complement(ranges) : ranges;
  }

  /** One character of a class, or a named set of them. */
  #member(): string | readonly Range[] {
    const character = this.take();
    if (character !== '\\') return character;
    const next = this.take();
    const set = SETS[next.toLowerCase()];
    if (set) return next === next.toLowerCase() ? set : complement(set);
    const control = CONTROLS[next];
    if (control !== undefined) return control;
    if (next === '' || /[A-Za-z0-9]/.test(next)) throw this.#refuse(`\\${next} in a class is not supported`);
    return next;
  }
}
