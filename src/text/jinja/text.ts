// What Python's texts can do: strip, split, find, replace, pad and change of case, counted in characters.
import {
  argument,
  characters,
  checkLength,
  lengthOf,
  Markup,
  type Named,
  replaceEach,
  spend,
  TemplateFault,
  typeError,
  typeName,
  type Value,
  wholeNumber,
} from './values.ts';

/** Python's white space, which is not JavaScript's. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const LEADING = new RegExp(`^[${SPACE}]`);
const WORD = new RegExp(`[^${SPACE}]+`, 'g');
const ENDS = '\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE = new RegExp(`([^${ENDS}]*)(\\r\\n|[${ENDS}]|$)`, 'g');
export const ALL_SPACE = new RegExp(`^[${SPACE}]+$`);

export const textArgument = (value: Value | undefined, method: string): string => {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  throw typeError(`${method}() takes a str, not ${value === undefined ? 'nothing' : typeName(value)}`);
};

/** Without `chars`: white space; else any of these characters. */
export const strip = (text: string, chars: Value, left: boolean, right: boolean): string => {
  const set = typeof chars === 'string' ? new Set(characters(chars)) : null;
  const goes = (character: string): boolean => (set ? set.has(character) : LEADING.test(character));
  const all = characters(text);
  let [from, to] = [0, all.length];
  while (left && from < to && goes(all[from] as string)) from++;
  while (right && to > from && goes(all[to - 1] as string)) to--;
  return all.slice(from, to).join('');
};

export const split = (text: string, separator: Value, most: number): string[] => {
  spend(text.length / 32);
  if (separator === null) {
    const parts: string[] = [];
    for (const match of text.matchAll(WORD)) {
      if (most >= 0 && parts.length === most) return [...parts, strip(text.slice(match.index), null, false, true)];
      parts.push(match[0]);
    }
    return parts;
  }
  if (separator === '') throw new TemplateFault('ValueError', 'empty separator');
  const parts = text.split(textArgument(separator, 'split'));
  return most < 0 || parts.length <= most + 1
    ? parts
    : [...parts.slice(0, most), parts.slice(most).join(separator as string)];
};

export const splitFromRight = (text: string, separator: Value, most: number): string[] => {
  if (most < 0) return split(text, separator, most);
  if (separator === null) {
    const reversed = (own: string): string => characters(own).toReversed().join('');
    return split(reversed(text), null, most).map(reversed).toReversed();
  }
  const parts = split(text, separator, -1);
  const kept = Math.max(0, parts.length - 1 - most);
  return [parts.slice(0, kept + 1).join(separator as string), ...parts.slice(kept + 1)];
};

export const splitLines = (text: string, withEnds: boolean): string[] => {
  spend(text.length / 32);
  const lines = Array.from(text.matchAll(LINE), ([whole, line]) => (withEnds ? whole : (line as string)));
  // The pattern also finds the nothing after the last line.
  return text === '' || lines.length === 0 ? [] : lines.slice(0, -1);
};

export const replace = (text: string, old: string, by: string, count: number): string => {
  let [result, at] = ['', 0];
  for (let done = 0; done !== count; done++) {
    const found = old === '' ? at : text.indexOf(old, at);
    if (found < 0) break;
    spend(1);
    checkLength(by.length);
    result += text.slice(at, found) + by;
    at = found + old.length;
    if (old === '') {
      if (at >= text.length) break;
      const character = String.fromCodePoint(text.codePointAt(at) as number);
      result += character;
      at += character.length;
    }
  }
  return result + text.slice(at);
};

/** What `find(part, start, end)` and its like look through, and the characters before it; null: nothing. */
export const stretch = (
  text: string,
  args: readonly Value[],
): { readonly text: string; readonly start: number } | null => {
  const [start = null, end = null] = args.slice(1);
  if (start === null && end === null) return { text, start: 0 };
  const all = characters(text);
  const place = (own: Value, otherwise: number): number => {
    if (own === null) return otherwise;
    if (typeof own !== 'number') throw typeError('slice indices must be integers or None');
    return own < 0 ? Math.max(0, own + all.length) : own;
  };
  const [from, to] = [place(start, 0), place(end, all.length)];
  return from > Math.min(to, all.length) ? null : { text: all.slice(from, to).join(''), start: from };
};

/** Where the part is, in characters; -1 where it is not. */
export const findIn = (text: string, args: readonly Value[], method: 'indexOf' | 'lastIndexOf'): number => {
  const part = textArgument(args[0], 'find');
  const within = stretch(text, args);
  const at = within ? within.text[method](part) : -1;
  return within && at >= 0 ? within.start + lengthOf(within.text.slice(0, at)) : -1;
};

export const capitalize = (text: string): string => {
  if (text === '') return '';
  spend(1 + text.length / 32);
  const first = String.fromCodePoint(text.codePointAt(0) as number);
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
};

/** The method: a capital after everything that has no case. */
export const titleCase = (text: string): string => replaceEach(text, /\p{Cased}+/gu, capitalize);

/** The filter: a capital after spaces, hyphens and opening brackets. */
export const titleWords = (text: string): string =>
  text
    .split(new RegExp(`([-${SPACE}({[<]+)`))
    .map((word) => capitalize(word))
    .join('');

export const swapCase = (text: string): string =>
  replaceEach(text, /\p{Lu}+|\p{Ll}+/gu, (letters) =>
    /\p{Lu}/u.test(letters) ? letters.toLowerCase() : letters.toUpperCase(),
  );

/** As many of a character. */
export const fill = (count: number, character = ' '): string => {
  checkLength(Math.max(0, count));
  return character.repeat(Math.max(0, count));
};

/** Widened to as many characters as `args` say. */
export const pad = (text: string, args: readonly Value[], named: Named, side: 'left' | 'right' | 'both'): string => {
  const width = wholeNumber(argument(args, named, 0, 'width', null));
  const character = textArgument(argument(args, named, 1, 'fillchar', ' '), 'ljust');
  if (lengthOf(character) !== 1) throw typeError('The fill character must be exactly one character long');
  const missing = Math.max(0, width - lengthOf(text));
  const left = { left: missing, right: 0, both: Math.floor(missing / 2) + (missing & width & 1) }[side];
  return fill(left, character) + text + fill(missing - left, character);
};

export const fillZeros = (text: string, width: number): string => {
  const sign = /^[-+]?/.exec(text)?.[0] as string;
  return sign + fill(width - lengthOf(text), '0') + text.slice(sign.length);
};
