// Jinja's filters that chat templates use, with Python's results.
import { percentFormat } from './format.ts';
import {
  batch,
  byAttribute,
  dictsort,
  extreme,
  groupby,
  join,
  reverse,
  slice,
  sort,
  sum,
  unique,
} from './list-filters.ts';
import { attribute } from './methods.ts';
import { abs, round, toFloat, toInt } from './number-filters.ts';
import { runTest } from './tests.ts';
import { capitalize, pad, strip, titleWords } from './text.ts';
import { indent, replace, striptags, tojson, truncate, urlencode } from './text-filters.ts';
import {
  argument,
  escapeMarkup,
  found,
  Generator,
  isTrue,
  iterate,
  lengthOf,
  Markup,
  type Named,
  spendText,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  Undefined,
  type Value,
} from './values.ts';

type Filter = (value: Value, args: readonly Value[], named: Named) => Value;

const NONE: Named = new Map();

/** `select("test", …)`, `rejectattr("name", "test", …)` … */
const choose =
  (wanted: boolean, attributed: boolean): Filter =>
  (value, args) => {
    const [name, ...rest] = attributed ? args.slice(1) : args;
    const of = byAttribute(attributed ? (args[0] ?? null) : null);
    const test = (item: Value): boolean => (name === undefined ? isTrue(item) : runTest(textOf(name), item, rest));
    const items = isTrue(value) ? iterate(value) : [];
    return new Generator(items.filter((item) => test(of(item)) === wanted));
  };

const map: Filter = (value, args, named) => {
  const items = isTrue(value) ? iterate(value) : [];
  const [name, ...rest] = args;
  const own = named.get('attribute');
  if (name === undefined && own !== undefined)
    return new Generator(items.map(byAttribute(own, named.get('default') ?? null)));
  if (name === undefined) throw new TemplateFault('FilterArgumentError', 'map requires a filter argument');
  return new Generator(items.map((item) => runFilter(textOf(name), item, rest, named)));
};

const itemOr = (item: Value | undefined, which: string): Value =>
  item === undefined ? new Undefined(`No ${which} item, sequence was empty.`) : item;

const otherwise: Filter = (value, args, named) => {
  const isMissing =
    value instanceof Undefined || (isTrue(argument(args, named, 1, 'boolean', false)) && !isTrue(value));
  return isMissing ? argument(args, named, 0, 'default_value', '') : value;
};

const FILTERS: Readonly<Record<string, Filter>> = {
  abs,
  attr: (value, [name]) =>
    attribute(value, textOf(name ?? null)) ?? new Undefined(`there is no attribute '${textOf(name ?? null)}'`),
  batch,
  capitalize: (value) => capitalize(textOf(value)),
  center: (value, args, named) => pad(textOf(value), [argument(args, named, 0, 'width', 80)], NONE, 'both'),
  count: (value) => lengthOf(value),
  d: otherwise,
  default: otherwise,
  dictsort,
  e: escapeMarkup,
  escape: escapeMarkup,
  first: (value) => itemOr(iterate(value)[0], 'first'),
  float: toFloat,
  format: (value, args, named) =>
    percentFormat(textOf(value), named.size > 0 ? new Map<Value, Value>(named) : new Tuple(args)),
  groupby,
  indent,
  int: toInt,
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
  replace,
  reverse,
  round,
  safe: (value) => new Markup(textOf(value)),
  select: choose(true, false),
  selectattr: choose(true, true),
  slice,
  sort,
  string: (value) => (value instanceof Markup ? value : textOf(value)),
  striptags,
  sum,
  title: (value) => titleWords(textOf(value)),
  tojson,
  trim: (value, args, named) => strip(textOf(value), argument(args, named, 0, 'chars', null), true, true),
  truncate,
  unique,
  upper: (value) => textOf(value).toUpperCase(),
  urlencode,
  wordcount: (value) => textOf(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0,
};

export const runFilter = (name: string, value: Value, args: readonly Value[] = [], named: Named = NONE): Value => {
  spendText(value);
  return found(FILTERS, name, 'filter')(value, args, named);
};
