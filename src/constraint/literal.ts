// Texts and classes of characters, as EBNF writes them.

const numbered = (at: number): string =>
  at > 0xffff ? `\\U${at.toString(16).padStart(8, '0')}` : `\\u${at.toString(16).padStart(4, '0')}`;

const escaped = (at: number): string => (at >= 0x20 && at < 0x7f ? String.fromCodePoint(at) : numbered(at));

export const literal = (text: string): string =>
  `"${Array.from(text, (character) =>
    character === '"' || character === '\\' ? `\\${character}` : escaped(character.codePointAt(0) as number),
  ).join('')}"`;

export type Range = readonly [first: number, last: number];

const LAST = 0x10ffff;

/** Sorted and joined. Surrogates are no characters, so it does not matter that they fill a gap. */
const joined = (ranges: readonly Range[]): readonly Range[] => {
  const out: Range[] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = out.at(-1);
    const next = before && (before[1] === 0xd7ff ? 0xe000 : before[1] + 1);
    if (before && next !== undefined && first <= next) out[out.length - 1] = [before[0], Math.max(before[1], last)];
    else out.push([first, last]);
  }
  return out;
};

/** All other characters. */
export const complement = (ranges: readonly Range[]): readonly Range[] => {
  const out: Range[] = [];
  let next = 0;
  for (const [first, last] of joined(ranges)) {
    if (first > next) out.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST) out.push([next, LAST]);
  return out;
};

/** The characters that both hold. */
export const intersection = (ranges: readonly Range[], within: readonly Range[]): readonly Range[] =>
  ranges.flatMap(([first, last]) =>
    within
      .map(([low, high]): Range => [Math.max(first, low), Math.min(last, high)])
      .filter(([low, high]) => low <= high),
  );

/** Signs that mean something in a class are written by their numbers. */
const member = (at: number): string => {
  const character = String.fromCodePoint(at);
  return /[\x20-\x7e]/.test(character) && !/[\\\]^"[-]/.test(character) ? character : numbered(at);
};

/** What stands between the brackets of a class. */
export const members = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => (first === last ? member(first) : `${member(first)}-${member(last)}`)).join('');

/** A class of characters. */
export const characterClass = (ranges: readonly Range[]): string => {
  const own = joined(ranges);
  const [only] = own;
  if (own.length === 1 && only && only[0] === only[1]) return literal(String.fromCodePoint(only[0]));
  if (own.at(-1)?.[1] !== LAST) return `[${members(own)}]`;
  const others = complement(own);
  return `[^${members(others.length > 0 ? others : [[0, 0]])}]`;
};
