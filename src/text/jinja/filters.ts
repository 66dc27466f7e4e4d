// Jinja's filters and tests that chat templates use, with Python's results.
import { argument, capitalize, member, percentFormat, replace, sorted, strip, title } from './methods.ts';
import {
  characters,
  checkLength,
  compare,
  contains,
  escapeMarkup,
  Float,
  Generator,
  isEqual,
  isList,
  isNumber,
  isTrue,
  iterate,
  type JsonStyle,
  jsonOf,
  lengthOf,
  Markup,
  type Named,
  numberOf,
  spendText,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  Undefined,
  type Value,
} from './values.ts';

type Filter = (value: Value, args: readonly Value[], named: Named) => Value;
type Test = (value: Value, ...args: readonly Value[]) => boolean;

const NONE: Named = new Map();

const found = <T>(table: Readonly<Record<string, T>>, name: string, what: string): T => {
  if (Object.hasOwn(table, name)) return table[name] as T;
  throw new TemplateFault('TemplateRuntimeError', `No ${what} named '${name}'.`);
};

/** `a.b.0` of a value; nothing on the way is an error, as Jinja has it. */
const path = (value: Value, attribute: Value): Value => {
  const parts = typeof attribute === 'string' ? attribute.split('.') : [attribute];
  return parts.reduce<Value>(
    (at, part) => member(at, typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part, false),
    value,
  );
};

/** What `sort`, `map`, `min` … compare or give: an attribute of each item, or the item. */
const byAttribute =
  (attribute: Value): ((item: Value) => Value) =>
  (item) =>
    attribute === null ? item : path(item, attribute);

const flag = (args: readonly Value[], named: Named, at: number, name: string): boolean =>
  isTrue(argument(args, named, at, name, false));

const numeric = (value: Value): number => {
  if (value instanceof Undefined) throw value.fault;
  if (isNumber(value) || typeof value === 'boolean') return numberOf(value);
  throw typeError(`${textOf(value)} is not a number`);
};

/** `select("test", …)`, `rejectattr("name", "test", …)` … */
const choose =
  (wanted: boolean, attributed: boolean): Filter =>
  (value, args) => {
    const [name, ...rest] = attributed ? args.slice(1) : args;
    const of = byAttribute(attributed ? (args[0] ?? null) : null);
    const test: Test = name === undefined ? isTrue : (item) => runTest(textOf(name), item, rest);
    const items = isTrue(value) ? iterate(value) : [];
    return new Generator(items.filter((item) => test(of(item)) === wanted));
  };

const extreme =
  (sign: number): Filter =>
  (value, args, named) => {
    const of = byAttribute(argument(args, named, 1, 'attribute', null));
    const cased = flag(args, named, 0, 'case_sensitive');
    const key = (item: Value): Value => {
      const own = of(item);
      return typeof own === 'string' && !cased ? own.toLowerCase() : own;
    };
    const items = iterate(value);
    if (items.length === 0) return new Undefined('No aggregated item, sequence was empty.');
    return items.reduce((best, item) => (sign * compare(key(item), key(best)) < 0 ? item : best));
  };

const toNumber =
  (whole: boolean): Filter =>
  (value, args, named) => {
    const otherwise = argument(args, named, 0, 'default', whole ? 0 : new Float(0));
    const number =
      isNumber(value) || typeof value === 'boolean'
        ? numberOf(value)
        : typeof value === 'string' && /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)
          ? Number(value)
          : null;
    if (number === null) return otherwise;
    return whole ? Math.trunc(number) : new Float(number);
  };

const indent: Filter = (value, args, named) => {
  const width = argument(args, named, 0, 'width', 4);
  const [first, blank] = [flag(args, named, 1, 'first'), flag(args, named, 2, 'blank')];
  const by = typeof width === 'string' ? width : ' '.repeat(Math.min(1000, Math.max(0, numeric(width))));
  const lines = textOf(value).split('\n');
  checkLength(textOf(value).length + lines.length * by.length);
  return lines
    .map((line, i) => ((i === 0 && !first) || (line === '' && !blank && i > 0) ? line : by + line))
    .join('\n');
};

const join: Filter = (value, args, named) => {
  const separator = textOf(argument(args, named, 0, 'd', ''));
  const of = byAttribute(argument(args, named, 1, 'attribute', null));
  const parts = iterate(value).map((item) => textOf(of(item)));
  checkLength(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
};

const map: Filter = (value, args, named) => {
  const items = isTrue(value) ? iterate(value) : [];
  const attribute = named.get('attribute');
  if (attribute !== undefined) {
    const otherwise = named.get('default');
    const of = byAttribute(attribute);
    return new Generator(
      items.map((item) => {
        const own = of(item);
        return own instanceof Undefined && otherwise !== undefined ? otherwise : own;
      }),
    );
  }
  const [name, ...rest] = args;
  if (name === undefined) throw new TemplateFault('FilterArgumentError', 'map requires a filter argument');
  return new Generator(items.map((item) => runFilter(textOf(name), item, rest, named)));
};

const tojson: Filter = (value, args, named) => {
  const width = argument(args, named, 1, 'indent', null);
  const separators = argument(args, named, 2, 'separators', null);
  const style: JsonStyle = {
    indent:
      width === null
        ? null
        : typeof width === 'string'
          ? width
          : ' '.repeat(Math.min(1000, Math.max(0, numeric(width)))),
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

const dictsort: Filter = (value, args, named) => {
  if (!(value instanceof Map)) throw typeError('dictsort takes a dict');
  const at = argument(args, named, 1, 'by', 'key') === 'value' ? 1 : 0;
  const entries = [...value].map((entry) => new Tuple(entry));
  const key = (entry: Value): Value => (entry as Tuple).items[at] as Value;
  return sorted(entries, key, flag(args, named, 2, 'reverse'), flag(args, named, 0, 'case_sensitive'));
};

const round: Filter = (value, args, named) => {
  const scale = 10 ** numeric(argument(args, named, 0, 'precision', 0));
  const method = textOf(argument(args, named, 1, 'method', 'common'));
  const scaled = numeric(value) * scale;
  if (method !== 'common') return new Float((method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled)) / scale);
  const low = Math.floor(scaled);
  const half = scaled - low === 0.5;
  return new Float((half ? low + (low % 2 === 0 ? 0 : 1) : Math.round(scaled)) / scale);
};

const groupby: Filter = (value, args, named) => {
  const of = byAttribute(argument(args, named, 0, 'attribute', null));
  const groups: { readonly key: Value; readonly items: Value[] }[] = [];
  for (const item of sorted(iterate(value), of, false, true)) {
    const last = groups.at(-1);
    if (last && isEqual(last.key, of(item))) last.items.push(item);
    else groups.push({ key: of(item), items: [item] });
  }
  return groups.map(({ key, items }) => new Tuple([key, items]));
};

const unique: Filter = (value, args, named) => {
  const of = byAttribute(argument(args, named, 1, 'attribute', null));
  const seen: Value[] = [];
  return new Generator(
    iterate(value).filter((item) => {
      const own = of(item);
      const key = typeof own === 'string' ? own.toLowerCase() : own;
      if (seen.some((other) => isEqual(other, key))) return false;
      seen.push(key);
      return true;
    }),
  );
};

const reverse = (value: Value): Value =>
  typeof value === 'string' ? characters(value).toReversed().join('') : new Generator([...iterate(value)].reverse());

const itemOr = (item: Value | undefined, which: string): Value =>
  item === undefined ? new Undefined(`No ${which} item, sequence was empty.`) : item;

const isDefault = (value: Value, args: readonly Value[], named: Named): boolean =>
  value instanceof Undefined || (flag(args, named, 1, 'boolean') && !isTrue(value));

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: (value) => (value instanceof Float ? new Float(Math.abs(value.value)) : Math.abs(numeric(value))),
  attr: (value, [name]) => member(value, name ?? null, true),
  capitalize: (value) => capitalize(textOf(value)),
  count: (value) => lengthOf(value),
  d: (value, args, named) => (isDefault(value, args, named) ? argument(args, named, 0, 'default_value', '') : value),
  default: (value, args, named) =>
    isDefault(value, args, named) ? argument(args, named, 0, 'default_value', '') : value,
  dictsort,
  e: escapeMarkup,
  escape: escapeMarkup,
  first: (value) => itemOr(iterate(value)[0], 'first'),
  float: toNumber(false),
  format: (value, args) => percentFormat(textOf(value), new Tuple(args)),
  groupby,
  indent,
  int: toNumber(true),
  items: (value) => {
    if (value instanceof Undefined) return new Generator([]);
    if (value instanceof Map) return new Generator([...value].map((entry) => new Tuple(entry)));
    throw typeError('Can only get item pairs from a mapping.');
  },
  join,
  last: (value) => itemOr(iterate(value).at(-1), 'last'),
  length: (value) => lengthOf(value),
  list: (value) => [...iterate(value)],
  lower: (value) => textOf(value).toLowerCase(),
  map,
  max: extreme(-1),
  min: extreme(1),
  reject: choose(false, false),
  rejectattr: choose(false, true),
  replace: (value, args, named) =>
    replace(
      textOf(value),
      textOf(args[0] ?? null),
      textOf(args[1] ?? null),
      numeric(argument(args, named, 2, 'count', null) ?? -1),
    ),
  reverse,
  round,
  safe: (value) => new Markup(textOf(value)),
  select: choose(true, false),
  selectattr: choose(true, true),
  sort: (value, args, named) =>
    sorted(
      iterate(value),
      byAttribute(argument(args, named, 2, 'attribute', null)),
      flag(args, named, 0, 'reverse'),
      flag(args, named, 1, 'case_sensitive'),
    ),
  string: (value) => (value instanceof Markup ? value : textOf(value)),
  sum: (value, args, named) => {
    const of = byAttribute(argument(args, named, 0, 'attribute', null));
    const items = iterate(value).map(of);
    const start = argument(args, named, 1, 'start', 0);
    const sum = items.reduce<number>((all, item) => all + numeric(item), numeric(start));
    return [start, ...items].some((item) => item instanceof Float) ? new Float(sum) : sum;
  },
  title: (value) => title(textOf(value)),
  tojson,
  trim: (value, args, named) => strip(textOf(value), argument(args, named, 0, 'chars', null), true, true),
  unique,
  upper: (value) => textOf(value).toUpperCase(),
  wordcount: (value) => textOf(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0,
};

const parity =
  (odd: number): Test =>
  (value) =>
    Math.abs(numeric(value) % 2) === odd;

const TESTS: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => typeof value === 'function',
  defined: (value) => !(value instanceof Undefined),
  divisibleby: (value, by) => numeric(value) % numeric(by ?? null) === 0,
  eq: (value, other) => isEqual(value, other ?? null),
  equalto: (value, other) => isEqual(value, other ?? null),
  even: parity(0),
  false: (value) => value === false,
  float: (value) => value instanceof Float,
  ge: (value, other) => compare(value, other ?? null, '>=') >= 0,
  gt: (value, other) => compare(value, other ?? null, '>') > 0,
  in: (value, container) => contains(container ?? null, value),
  integer: (value) => typeof value === 'number',
  iterable: (value) =>
    typeof value === 'string' ||
    isList(value) ||
    [Map, Tuple, Generator, Undefined].some((kind) => value instanceof kind),
  le: (value, other) => compare(value, other ?? null, '<=') <= 0,
  lower: (value) => textOf(value) !== textOf(value).toUpperCase() && textOf(value) === textOf(value).toLowerCase(),
  lt: (value, other) => compare(value, other ?? null, '<') < 0,
  mapping: (value) => value instanceof Map,
  ne: (value, other) => !isEqual(value, other ?? null),
  none: (value) => value === null,
  number: (value) => isNumber(value) || typeof value === 'boolean',
  odd: parity(1),
  sameas: (value, other) => value === other,
  sequence: (value) =>
    typeof value === 'string' || isList(value) || [Map, Tuple, Undefined].some((kind) => value instanceof kind),
  string: (value) => typeof value === 'string' || value instanceof Markup,
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value) => textOf(value) !== textOf(value).toLowerCase() && textOf(value) === textOf(value).toUpperCase(),
};

export const runFilter = (name: string, value: Value, args: readonly Value[] = [], named: Named = NONE): Value => {
  spendText(value);
  return found(FILTERS, name, 'filter')(value, args, named);
};

export const runTest = (name: string, value: Value, args: readonly Value[] = []): boolean =>
  found(TESTS, name, 'test')(value, ...args);
