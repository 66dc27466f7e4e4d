// The attributes, items and methods of values. Methods that change a list or a dict are refused, as transformers'
// sandbox does.
import { braceFormat } from './format.ts';
import { Float } from './numbers.ts';
import {
  ALL_SPACE,
  capitalize,
  fillZeros,
  findIn,
  pad,
  replace,
  split,
  splitFromRight,
  splitLines,
  stretch,
  strip,
  swapCase,
  textArgument,
  titleCase,
} from './text.ts';
import {
  argument,
  type Callable,
  characters,
  checkLength,
  type Dict,
  Instance,
  isEqual,
  isList,
  isNumber,
  isTrue,
  iterate,
  Markup,
  Namespace,
  numberOf,
  repr,
  TemplateFault,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

const number = (value: Value, otherwise: number): number => (isNumber(value) ? numberOf(value) : otherwise);

const all =
  (text: string, pattern: RegExp): Callable =>
  () =>
    pattern.test(text);

const affix =
  (text: string, method: 'startsWith' | 'endsWith'): Callable =>
  (args) => {
    const within = stretch(text, args);
    const options = args[0] instanceof Tuple ? args[0].items : [args[0]];
    return options.some((option) => within?.text[method](textArgument(option, method.toLowerCase())) ?? false);
  };

const indexIn =
  (text: string, method: 'indexOf' | 'lastIndexOf'): Callable =>
  (args) => {
    const at = findIn(text, args, method);
    if (at < 0) throw new TemplateFault('ValueError', 'substring not found');
    return at;
  };

const countIn =
  (text: string): Callable =>
  (args) => {
    const within = stretch(text, args)?.text;
    if (within === undefined) return 0;
    const part = textArgument(args[0], 'count');
    return part === '' ? characters(within).length + 1 : within.split(part).length - 1;
  };

const partition =
  (text: string, method: 'indexOf' | 'lastIndexOf'): Callable =>
  ([separator]) => {
    const own = textArgument(separator, 'partition');
    if (own === '') throw new TemplateFault('ValueError', 'empty separator');
    const at = text[method](own);
    if (at < 0) return new Tuple(method === 'indexOf' ? [text, '', ''] : ['', '', text]);
    return new Tuple([text.slice(0, at), own, text.slice(at + own.length)]);
  };

const splitBy =
  (text: string, by: typeof split): Callable =>
  (args, named) =>
    by(text, argument(args, named, 0, 'sep', null), number(argument(args, named, 1, 'maxsplit', -1), -1));

/** By name; a text's own value is the first parameter. */
const TEXT: Readonly<Record<string, (text: string) => Callable>> = {
  capitalize: (text) => () => capitalize(text),
  casefold: (text) => () => text.toLowerCase(),
  center: (text) => (args, named) => pad(text, args, named, 'both'),
  count: countIn,
  endswith: (text) => affix(text, 'endsWith'),
  find: (text) => (args) => findIn(text, args, 'indexOf'),
  format: braceFormat,
  index: (text) => indexIn(text, 'indexOf'),
  isalnum: (text) => all(text, /^[\p{L}\p{N}]+$/u),
  isalpha: (text) => all(text, /^\p{L}+$/u),
  isascii: (text) => all(text, /^\p{ASCII}*$/u),
  isdecimal: (text) => all(text, /^\p{Nd}+$/u),
  isdigit: (text) => all(text, /^\p{Nd}+$/u),
  islower: (text) => () => text !== text.toUpperCase() && text === text.toLowerCase(),
  isnumeric: (text) => all(text, /^\p{N}+$/u),
  isspace: (text) => all(text, ALL_SPACE),
  istitle: (text) => () => /\p{Cased}/u.test(text) && text === titleCase(text),
  isupper: (text) => () => text !== text.toLowerCase() && text === text.toUpperCase(),
  join:
    (text) =>
    ([items]) => {
      const parts = iterate(items ?? null).map((item) => textArgument(item, 'join'));
      checkLength(parts.reduce((sum, part) => sum + part.length + text.length, 0));
      return parts.join(text);
    },
  ljust: (text) => (args, named) => pad(text, args, named, 'right'),
  lower: (text) => () => text.toLowerCase(),
  lstrip: (text) => (args) => strip(text, args[0] ?? null, true, false),
  partition: (text) => partition(text, 'indexOf'),
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
  rfind: (text) => (args) => findIn(text, args, 'lastIndexOf'),
  rindex: (text) => indexIn(text, 'lastIndexOf'),
  rjust: (text) => (args, named) => pad(text, args, named, 'left'),
  rpartition: (text) => partition(text, 'lastIndexOf'),
  rsplit: (text) => splitBy(text, splitFromRight),
  rstrip: (text) => (args) => strip(text, args[0] ?? null, false, true),
  split: (text) => splitBy(text, split),
  splitlines: (text) => (args, named) => splitLines(text, isTrue(argument(args, named, 0, 'keepends', false))),
  startswith: (text) => affix(text, 'startsWith'),
  strip: (text) => (args) => strip(text, args[0] ?? null, true, true),
  swapcase: (text) => () => swapCase(text),
  title: (text) => () => titleCase(text),
  upper: (text) => () => text.toUpperCase(),
  zfill:
    (text) =>
    ([width]) =>
      fillZeros(text, number(width ?? 0, 0)),
};

const DICT: Readonly<Record<string, (dict: Dict) => Callable>> = {
  copy: (dict) => () => new Map(dict),
  get:
    (dict) =>
    ([key = null, otherwise = null]) => {
      const found = dict.get(key);
      return found === undefined ? otherwise : found;
    },
  items: (dict) => () => [...dict].map((entry) => new Tuple(entry)),
  keys: (dict) => () => [...dict.keys()],
  values: (dict) => () => [...dict.values()],
};

/** Of lists and of tuples. */
const ITEMS: Readonly<Record<string, (list: readonly Value[]) => Callable>> = {
  count:
    (list) =>
    ([item]) =>
      list.filter((other) => isEqual(other, item ?? null)).length,
  index:
    (list) =>
    ([item]) => {
      const at = list.findIndex((other) => isEqual(other, item ?? null));
      if (at < 0) throw new TemplateFault('ValueError', `${textOf(item ?? null)} is not in list`);
      return at;
    },
};

/** Methods that change what they are called on. */
const CHANGING: Readonly<Record<string, readonly string[]>> = {
  list: ['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort'],
  dict: ['clear', 'pop', 'popitem', 'setdefault', 'update'],
};

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** What Python's getattr finds on a value; undefined where there is nothing. */
export const attribute = (value: Value, name: string): Value | undefined => {
  if (CHANGING[typeName(value)]?.includes(name))
    return new Undefined(`access to attribute '${name}' of '${typeName(value)}' object is unsafe.`, 'SecurityError');
  if (typeof value === 'string') return own(TEXT, name)?.(value);
  if (value instanceof Markup) return attribute(value.text, name);
  if (value instanceof Map) return own(DICT, name)?.(value);
  if (value instanceof Namespace) return value.fields.get(name);
  if (value instanceof Instance) return value.attribute(name);
  if (value instanceof Tuple) return value.named(name) ?? own(ITEMS, name)?.(value.items);
  if (!isList(value)) return undefined;
  return name === 'copy' ? () => [...value] : own(ITEMS, name)?.(value);
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
  const what = value === null ? 'None' : `${typeName(value)} object`;
  const lacks = typeof key === 'string' ? `'${what}' has no attribute '${key}'` : `${what} has no element ${repr(key)}`;
  return new Undefined(lacks);
};
