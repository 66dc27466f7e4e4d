// The methods of Python's texts, lists and dicts that chat templates call. Those that change a list or a dict are
// refused, as transformers' sandbox does.
import {
  type Callable,
  characters,
  checkLength,
  compare,
  type Dict,
  Float,
  isEqual,
  isList,
  isNumber,
  iterate,
  Markup,
  type Named,
  Namespace,
  numberOf,
  spend,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** Python's white space, which is not JavaScript's. */
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const LEADING = new RegExp(`^[${SPACE}]+`);
const WORD = new RegExp(`[^${SPACE}]+`, 'g');
const ENDS = '\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE_END = new RegExp(`\\r\\n|[${ENDS}]`);
const isSpace = (character: string): boolean => LEADING.test(character);

/** An argument by its place or its name; `otherwise` where neither is given. */
export const argument = (args: readonly Value[], named: Named, at: number, name: string, otherwise: Value): Value => {
  if (at < args.length) return args[at] as Value;
  const given = named.get(name);
  return given === undefined ? otherwise : given;
};

const textArgument = (value: Value | undefined, method: string): string => {
  if (typeof value === 'string') return value;
  throw typeError(`${method}() takes a str, not ${value === undefined ? 'nothing' : typeName(value)}`);
};

/** Without `chars`: white space; else any of these characters. */
export const strip = (text: string, chars: Value, left: boolean, right: boolean): string => {
  const set = typeof chars === 'string' ? new Set(characters(chars)) : null;
  const goes = (character: string): boolean => (set ? set.has(character) : isSpace(character));
  const all = characters(text);
  let [from, to] = [0, all.length];
  while (left && from < to && goes(all[from] as string)) from++;
  while (right && to > from && goes(all[to - 1] as string)) to--;
  return all.slice(from, to).join('');
};

const split = (text: string, separator: Value, most: number): string[] => {
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

const splitFromRight = (text: string, separator: Value, most: number): string[] => {
  if (most < 0) return split(text, separator, most);
  if (separator === null) {
    const reversed = (own: string): string => characters(own).toReversed().join('');
    return split(reversed(text), null, most).map(reversed).toReversed();
  }
  const parts = split(text, separator, -1);
  const kept = Math.max(0, parts.length - 1 - most);
  return [parts.slice(0, kept + 1).join(separator as string), ...parts.slice(kept + 1)];
};

export const replace = (text: string, old: string, by: string, count: number): string => {
  let [result, at] = ['', 0];
  for (let done = 0; done !== count; done++) {
    const found = old === '' ? (at < text.length || done === 0 || at === text.length ? at : -1) : text.indexOf(old, at);
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

export const capitalize = (text: string): string => {
  const [first = '', ...rest] = characters(text);
  return first.toUpperCase() + rest.join('').toLowerCase();
};

/** A capital after everything that is not a letter. */
export const title = (text: string): string => text.replace(/\p{L}+/gu, (word) => capitalize(word));

const affix = (text: string, value: Value | undefined, method: 'startsWith' | 'endsWith'): boolean =>
  value instanceof Tuple
    ? value.items.some((item) => text[method](textArgument(item, method)))
    : text[method](textArgument(value, method));

/** One number or text as `%d`, `%.2f`, `{:>8}` … ask for it. */
const formatted = (value: Value, spec: string): string => {
  const [, fill = ' ', align = '', sign = '', zero = '', width = '', comma = '', precision = '', kind = ''] =
    /^(?:(.)(?=[<>^]))?([<>^])?([+ ]?)(0?)(\d{0,4})(,?)(?:\.(\d{1,2}))?([sdifgxXobe%]?)$/u.exec(spec) ?? [];
  if (spec !== '' && width === '' && kind === '' && align === '' && precision === '' && comma === '' && sign === '')
    throw new TemplateFault('ValueError', `the format ${JSON.stringify(spec)} is not supported`);
  let text = textOf(value);
  if (isNumber(value) || typeof value === 'boolean') {
    const number = numberOf(value);
    if (kind === 'd' || kind === 'i') text = String(Math.trunc(number));
    else if (kind === 'x') text = Math.trunc(number).toString(16);
    else if (kind === 'X') text = Math.trunc(number).toString(16).toUpperCase();
    else if (kind === 'o' || kind === 'b') text = Math.trunc(number).toString(kind === 'o' ? 8 : 2);
    else if (kind === '%') text = `${(100 * number).toFixed(Number(precision || 6))}%`;
    else if (kind === 'f' || precision !== '') text = number.toFixed(Number(precision || 6));
    if (comma) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
    if (sign !== '' && number >= 0) text = sign + text;
  } else if (kind !== '' && kind !== 's')
    throw new TemplateFault('ValueError', `Unknown format code '${kind}' for object of type '${typeName(value)}'`);
  else if (precision !== '') text = characters(text).slice(0, Number(precision)).join('');
  const missing = Number(width) - characters(text).length;
  if (missing <= 0) return text;
  const pad = zero ? '0' : fill;
  const side = align || (isNumber(value) ? '>' : '<');
  if (side === '^') return pad.repeat(missing >> 1) + text + pad.repeat(missing - (missing >> 1));
  return side === '<' ? text + pad.repeat(missing) : pad.repeat(missing) + text;
};

/** `'%s of %d' % (a, b)`. */
export const percentFormat = (pattern: string, value: Value): string => {
  const items = value instanceof Tuple ? value.items : [value];
  let next = 0;
  const text = pattern.replace(/%(?:%|\((\w+)\)s|([-+ 0]*\d*(?:\.\d+)?)([sdifrxX]))/g, (whole, name, spec, kind) => {
    if (whole === '%%') return '%';
    if (name !== undefined) return textOf(value instanceof Map ? (value.get(name) ?? null) : null);
    if (next >= items.length) throw typeError('not enough arguments for format string');
    return formatted(items[next++] as Value, (spec as string).replace('-', '<') + (kind === 'r' ? 's' : kind));
  });
  if (next < items.length && !(value instanceof Map))
    throw typeError('not all arguments converted during string formatting');
  return text;
};

const format: (text: string) => Callable = (text) => (args, named) => {
  let next = 0;
  return text.replace(/\{\{|\}\}|\{([^{}:!]*)(?::([^{}]*))?\}/g, (whole, name: string | undefined, spec = '') => {
    if (name === undefined) return whole[0] as string;
    const at = name === '' ? next++ : /^\d+$/.test(name) ? Number(name) : -1;
    const value = at >= 0 ? args[at] : named.get(name);
    if (value === undefined) throw new TemplateFault(at >= 0 ? 'IndexError' : 'KeyError', `format: ${name || at}`);
    return formatted(value, spec);
  });
};

const number = (value: Value, otherwise: number): number => (isNumber(value) ? numberOf(value) : otherwise);

const all =
  (text: string, pattern: RegExp): Callable =>
  () =>
    pattern.test(text);

const partition = (text: string, separator: Value | undefined, at: number): Value => {
  const own = textArgument(separator, 'partition');
  return new Tuple([text.slice(0, at), own, text.slice(at + own.length)]);
};

/** By name; a text's own value is the first parameter. */
const TEXT: Readonly<Record<string, (text: string) => Callable>> = {
  upper: (text) => () => text.toUpperCase(),
  lower: (text) => () => text.toLowerCase(),
  casefold: (text) => () => text.toLowerCase(),
  title: (text) => () => title(text),
  capitalize: (text) => () => capitalize(text),
  strip: (text) => (args) => strip(text, args[0] ?? null, true, true),
  lstrip: (text) => (args) => strip(text, args[0] ?? null, true, false),
  rstrip: (text) => (args) => strip(text, args[0] ?? null, false, true),
  split: (text) => (args, named) =>
    split(text, argument(args, named, 0, 'sep', null), number(argument(args, named, 1, 'maxsplit', -1), -1)),
  rsplit: (text) => (args, named) =>
    splitFromRight(text, argument(args, named, 0, 'sep', null), number(argument(args, named, 1, 'maxsplit', -1), -1)),
  splitlines: (text) => () => {
    const lines = text.split(LINE_END);
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  },
  startswith: (text) => (args) => affix(text, args[0], 'startsWith'),
  endswith: (text) => (args) => affix(text, args[0], 'endsWith'),
  removeprefix:
    (text) =>
    ([prefix]) =>
      text.startsWith(textArgument(prefix, 'removeprefix')) ? text.slice((prefix as string).length) : text,
  removesuffix:
    (text) =>
    ([suffix]) =>
      suffix !== '' && text.endsWith(textArgument(suffix, 'removesuffix'))
        ? text.slice(0, -(suffix as string).length)
        : text,
  replace: (text) => (args, named) =>
    replace(
      text,
      textArgument(args[0], 'replace'),
      textArgument(args[1], 'replace'),
      number(argument(args, named, 2, 'count', -1), -1),
    ),
  join:
    (text) =>
    ([items]) => {
      const parts = iterate(items ?? null).map((item) => textArgument(item, 'join'));
      checkLength(parts.reduce((sum, part) => sum + part.length + text.length, 0));
      return parts.join(text);
    },
  format,
  find:
    (text) =>
    ([part]) =>
      characters(text.slice(0, Math.max(0, text.indexOf(textArgument(part, 'find'))))).length -
      (text.includes(part as string) ? 0 : 1),
  rfind:
    (text) =>
    ([part]) =>
      characters(text.slice(0, Math.max(0, text.lastIndexOf(textArgument(part, 'rfind'))))).length -
      (text.includes(part as string) ? 0 : 1),
  index:
    (text) =>
    ([part]) => {
      const at = text.indexOf(textArgument(part, 'index'));
      if (at < 0) throw new TemplateFault('ValueError', 'substring not found');
      return characters(text.slice(0, at)).length;
    },
  count:
    (text) =>
    ([part]) =>
      part === '' ? characters(text).length + 1 : text.split(textArgument(part, 'count')).length - 1,
  partition:
    (text) =>
    ([separator]) => {
      const at = text.indexOf(textArgument(separator, 'partition'));
      return at < 0 ? new Tuple([text, '', '']) : partition(text, separator, at);
    },
  rpartition:
    (text) =>
    ([separator]) => {
      const at = text.lastIndexOf(textArgument(separator, 'rpartition'));
      return at < 0 ? new Tuple(['', '', text]) : partition(text, separator, at);
    },
  isdigit: (text) => all(text, /^\p{Nd}+$/u),
  isnumeric: (text) => all(text, /^\p{N}+$/u),
  isdecimal: (text) => all(text, /^\p{Nd}+$/u),
  isalpha: (text) => all(text, /^\p{L}+$/u),
  isalnum: (text) => all(text, /^[\p{L}\p{N}]+$/u),
  isspace: (text) => all(text, new RegExp(`^[${SPACE}]+$`)),
  isupper: (text) => () => text !== text.toLowerCase() && text === text.toUpperCase(),
  islower: (text) => () => text !== text.toUpperCase() && text === text.toLowerCase(),
  zfill:
    (text) =>
    ([width]) =>
      text.padStart(Math.min(1000, number(width ?? 0, 0)), '0'),
  ljust:
    (text) =>
    ([width, fill]) =>
      text.padEnd(Math.min(1000, number(width ?? 0, 0)), textOf(fill ?? ' ')),
  rjust:
    (text) =>
    ([width, fill]) =>
      text.padStart(Math.min(1000, number(width ?? 0, 0)), textOf(fill ?? ' ')),
};

const DICT: Readonly<Record<string, (dict: Dict) => Callable>> = {
  get:
    (dict) =>
    ([key = null, otherwise = null]) => {
      const found = dict.get(key);
      return found === undefined ? otherwise : found;
    },
  items: (dict) => () => [...dict].map((entry) => new Tuple(entry)),
  keys: (dict) => () => [...dict.keys()],
  values: (dict) => () => [...dict.values()],
  copy: (dict) => () => new Map(dict),
};

const LIST: Readonly<Record<string, (list: readonly Value[]) => Callable>> = {
  index:
    (list) =>
    ([item]) => {
      const at = list.findIndex((other) => isEqual(other, item ?? null));
      if (at < 0) throw new TemplateFault('ValueError', `${textOf(item ?? null)} is not in list`);
      return at;
    },
  count:
    (list) =>
    ([item]) =>
      list.filter((other) => isEqual(other, item ?? null)).length,
  copy: (list) => () => [...list],
};

/** Methods that change what they are called on. */
const CHANGING: Readonly<Record<string, readonly string[]>> = {
  list: ['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort'],
  dict: ['clear', 'pop', 'popitem', 'setdefault', 'update'],
};

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** What Python's getattr finds on a value; undefined where there is nothing. */
const attribute = (value: Value, name: string): Value | undefined => {
  if (CHANGING[typeName(value)]?.includes(name))
    return new Undefined(`access to attribute '${name}' of '${typeName(value)}' object is unsafe.`, 'SecurityError');
  if (typeof value === 'string') return own(TEXT, name)?.(value);
  if (value instanceof Map) return own(DICT, name)?.(value);
  if (value instanceof Namespace) return value.fields.get(name);
  return isList(value) ? own(LIST, name)?.(value) : undefined;
};

const item = (value: Value, key: Value): Value | undefined => {
  if (value instanceof Map) return value.get(key instanceof Float ? key.value : key);
  if (typeof key !== 'number' && typeof key !== 'boolean') return undefined;
  const at = Number(key);
  if (typeof value === 'string') return characters(value).at(at);
  return (value instanceof Tuple ? value.items : isList(value) ? value : []).at(at);
};

/** `value.name` and `value[key]`: methods come first with a dot, entries with brackets. */
export const member = (value: Value, key: Value, dotted: boolean): Value => {
  if (value instanceof Undefined) throw value.fault;
  if (value instanceof Markup) return member(value.text, key, dotted);
  const named = (): Value | undefined => (typeof key === 'string' ? attribute(value, key) : undefined);
  const first = dotted ? named() : item(value, key);
  const found = first === undefined ? (dotted ? item(value, key) : named()) : first;
  if (found !== undefined) return found;
  const what = value === null ? 'None' : `'${typeName(value)} object'`;
  return new Undefined(
    `${what} has no ${typeof key === 'string' ? 'attribute' : 'element'} ${typeof key === 'string' ? `'${key}'` : textOf(key)}`,
  );
};

/** Sorted as Python sorts, texts without regard to case unless asked. */
export const sorted = (
  items: readonly Value[],
  by: (item: Value) => Value,
  reverse: boolean,
  cased: boolean,
): Value[] => {
  spend(items.length);
  const key = (value: Value): Value => {
    const own = by(value);
    return typeof own === 'string' && !cased ? own.toLowerCase() : own;
  };
  const sign = reverse ? -1 : 1;
  return items
    .map((value) => [key(value), value] as const)
    .sort(([a], [b]) => sign * compare(a, b))
    .map(([, value]) => value);
};
