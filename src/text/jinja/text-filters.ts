// Filters that give texts: tojson, indent, truncate, urlencode and their like.
import { fill, replace as replaceIn, split, splitFromRight, splitLines } from './text.ts';
import {
  argument,
  characters,
  checkLength,
  isList,
  isTrue,
  iterate,
  type JsonStyle,
  jsonOf,
  lengthOf,
  type Named,
  replaceEach,
  TemplateFault,
  Tuple,
  textOf,
  Undefined,
  type Value,
  wholeNumber,
} from './values.ts';

type Filter = (value: Value, args: readonly Value[], named: Named) => Value;

const flag = (args: readonly Value[], named: Named, at: number, name: string): boolean =>
  isTrue(argument(args, named, at, name, false));

/** What a level is indented by: a text, or a number of spaces. */
const indentation = (width: Value): string => (typeof width === 'string' ? width : fill(wholeNumber(width)));

export const indent: Filter = (value, args, named) => {
  if (value instanceof Undefined) throw value.fault;
  const by = indentation(argument(args, named, 0, 'width', 4));
  const [first, blank] = [flag(args, named, 1, 'first'), flag(args, named, 2, 'blank')];
  const lines = splitLines(`${textOf(value)}\n`, false);
  checkLength(textOf(value).length + lines.length * by.length);
  return lines.map((line, i) => ((i === 0 ? first : blank || line !== '') ? by + line : line)).join('\n');
};

export const tojson: Filter = (value, args, named) => {
  const width = argument(args, named, 1, 'indent', null);
  const separators = argument(args, named, 2, 'separators', null);
  const style: JsonStyle = {
    indent: width === null ? null : indentation(width),
    ascii: flag(args, named, 0, 'ensure_ascii'),
    separators:
      separators === null
        ? [width === null ? ', ' : ',', ': ']
        : (iterate(separators).map(textOf) as unknown as readonly [string, string]),
    sorted: flag(args, named, 3, 'sort_keys'),
  };
  const text = jsonOf(value, style);
  checkLength(text.length);
  return text;
};

export const replace: Filter = (value, args, named) => {
  const [old, by] = [argument(args, named, 0, 'old', null), argument(args, named, 1, 'new', null)];
  const count = argument(args, named, 2, 'count', null);
  return replaceIn(textOf(value), textOf(old), textOf(by), count === null ? -1 : wholeNumber(count));
};

export const truncate: Filter = (value, args, named) => {
  const length = wholeNumber(argument(args, named, 0, 'length', 255));
  const cutsWords = flag(args, named, 1, 'killwords');
  const end = textOf(argument(args, named, 2, 'end', '...'));
  const leeway = wholeNumber(argument(args, named, 3, 'leeway', null) ?? 5);
  const room = length - lengthOf(end);
  if (room < 0) throw new TemplateFault('AssertionError', `expected length >= ${lengthOf(end)}, got ${length}`);
  if (leeway < 0) throw new TemplateFault('AssertionError', `expected leeway >= 0, got ${leeway}`);
  const text = textOf(value);
  if (lengthOf(text) <= length + leeway) return text;
  const kept = characters(text).slice(0, room).join('');
  return (cutsWords ? kept : (splitFromRight(kept, ' ', 1)[0] as string)) + end;
};

const percentEncoded = (value: Value): string => {
  const text = textOf(value);
  // Half of a pair of UTF-16 units has no bytes.
  if (/\p{Cs}/u.test(text)) throw new TemplateFault('UnicodeEncodeError', 'surrogates not allowed');
  const numbered = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return replaceEach(encodeURIComponent(text), /[!'()*]/g, numbered);
};

/** Of a text, or `name=value&…` of a dict or of pairs. */
export const urlencode: Filter = (value) => {
  const pairs = value instanceof Map ? [...value] : isList(value) || value instanceof Tuple ? iterate(value) : null;
  if (!pairs) return percentEncoded(value).replaceAll('%2F', '/');
  const query = (part: Value | undefined): string => percentEncoded(part ?? null).replaceAll('%20', '+');
  return pairs
    .map((pair) => (Array.isArray(pair) ? pair : iterate(pair as Value)))
    .map(([name, own]) => `${query(name)}=${query(own)}`)
    .join('&');
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\xa0' };

/** Numbered entities, and the named ones that escaping makes: HTML has two thousand more. */
const unescapeHtml = (text: string): string =>
  replaceEach(text, /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] as string) : whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });

export const striptags: Filter = (value) => {
  const text = textOf(value);
  let [kept, at] = ['', 0];
  for (;;) {
    const start = text.indexOf('<', at);
    const end = text.startsWith('<!--', start) ? '-->' : '>';
    const close = start < 0 ? -1 : text.indexOf(end, start + (end.length > 1 ? 4 : 0));
    if (close < 0) break;
    kept += text.slice(at, start);
    at = close + end.length;
  }
  return unescapeHtml(split(kept + text.slice(at), null, -1).join(' '));
};
