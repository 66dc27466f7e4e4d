// Filters of lists: sort, group, cut, join, sum.
import { member } from './methods.ts';
import { arithmetic } from './operators.ts';
import {
  argument,
  characters,
  checkLength,
  compare,
  Generator,
  isEqual,
  isTrue,
  iterate,
  type Named,
  spend,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  Undefined,
  type Value,
  wholeNumber,
} from './values.ts';

type Filter = (value: Value, args: readonly Value[], named: Named) => Value;
type Key = (item: Value) => Value;

const flag = (args: readonly Value[], named: Named, at: number, name: string): boolean =>
  isTrue(argument(args, named, at, name, false));

/**
 * An attribute of each item, or the item: `a.b.0` goes into the value, and nothing on the way is an error. `otherwise`
 * takes the place of what does not exist.
 */
export const byAttribute = (attribute: Value, otherwise: Value = null): Key => {
  if (attribute === null) return (item) => item;
  const parts = typeof attribute === 'string' ? attribute.split('.') : [attribute];
  return (item) =>
    parts.reduce<Value>((at, part) => {
      const inner = member(at, typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part, false);
      return inner instanceof Undefined && otherwise !== null ? otherwise : inner;
    }, item);
};

/** Texts are compared without regard to case unless asked. */
const caseless =
  (of: Key, cased: boolean): Key =>
  (item) => {
    const own = of(item);
    return typeof own === 'string' && !cased ? own.toLowerCase() : own;
  };

const sorted = (items: readonly Value[], by: Key, reverse: boolean): Value[] => {
  spend(items.length);
  const sign = reverse ? -1 : 1;
  return items
    .map((value) => [by(value), value] as const)
    .sort(([a], [b]) => sign * compare(a, b))
    .map(([, value]) => value);
};

/** By one attribute, or by several with commas. */
export const sort: Filter = (value, args, named) => {
  const cased = flag(args, named, 1, 'case_sensitive');
  const attribute = argument(args, named, 2, 'attribute', null);
  const attributes = typeof attribute === 'string' ? attribute.split(',') : [attribute];
  const keys = attributes.map((own) => caseless(byAttribute(own), cased));
  return sorted(iterate(value), (item) => keys.map((key) => key(item)), flag(args, named, 0, 'reverse'));
};

export const dictsort: Filter = (value, args, named) => {
  if (!(value instanceof Map)) throw typeError('dictsort takes a dict');
  const by = argument(args, named, 1, 'by', 'key');
  if (by !== 'key' && by !== 'value')
    throw new TemplateFault('FilterArgumentError', 'You can only sort by either "key" or "value"');
  const key = caseless(byAttribute(by === 'value' ? 1 : 0), flag(args, named, 0, 'case_sensitive'));
  return sorted(
    [...value].map((entry) => new Tuple(entry)),
    key,
    flag(args, named, 2, 'reverse'),
  );
};

export const groupby: Filter = (value, args, named) => {
  const of = byAttribute(argument(args, named, 0, 'attribute', null), argument(args, named, 1, 'default', null));
  const key = caseless(of, flag(args, named, 2, 'case_sensitive'));
  const groups: { readonly key: Value; readonly first: Value; readonly items: Value[] }[] = [];
  for (const item of sorted(iterate(value), key, false)) {
    const own = key(item);
    const last = groups.at(-1);
    if (last && isEqual(last.key, own)) last.items.push(item);
    else groups.push({ key: own, first: of(item), items: [item] });
  }
  return groups.map(({ first, items }) => new Tuple([first, items], ['grouper', 'list']));
};

export const unique: Filter = (value, args, named) => {
  const key = caseless(
    byAttribute(argument(args, named, 1, 'attribute', null)),
    flag(args, named, 0, 'case_sensitive'),
  );
  const seen: Value[] = [];
  return new Generator(
    iterate(value).filter((item) => {
      const own = key(item);
      if (seen.some((other) => isEqual(other, own))) return false;
      seen.push(own);
      return true;
    }),
  );
};

/** `min` with 1, `max` with -1. */
export const extreme =
  (sign: number): Filter =>
  (value, args, named) => {
    const cased = flag(args, named, 0, 'case_sensitive');
    const key = caseless(byAttribute(argument(args, named, 1, 'attribute', null)), cased);
    const items = iterate(value);
    if (items.length === 0) return new Undefined('No aggregated item, sequence was empty.');
    return items.reduce((best, item) => (sign * compare(key(item), key(best)) < 0 ? item : best));
  };

export const join: Filter = (value, args, named) => {
  const separator = textOf(argument(args, named, 0, 'd', ''));
  const of = byAttribute(argument(args, named, 1, 'attribute', null));
  const parts = iterate(value).map((item) => textOf(of(item)));
  checkLength(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
};

export const sum: Filter = (value, args, named) => {
  const of = byAttribute(argument(args, named, 0, 'attribute', null));
  const start = argument(args, named, 1, 'start', 0);
  if (typeof start === 'string') throw typeError('sum() cannot sum strings: join them');
  return iterate(value).reduce<Value>((all, item) => arithmetic('+', all, of(item)), start);
};

/** Lists of so many items; the last one is filled up where there is something to fill it with. */
export const batch: Filter = (value, args, named) => {
  const count = wholeNumber(argument(args, named, 0, 'linecount', null));
  const filler = argument(args, named, 1, 'fill_with', null);
  const batches: Value[][] = [];
  let last: Value[] = [];
  for (const item of iterate(value)) {
    if (last.length === count) {
      spend(8);
      batches.push(last);
      last = [];
    }
    last.push(item);
  }
  if (last.length === 0) return new Generator(batches);
  const missing = filler === null ? 0 : Math.max(0, count - last.length);
  spend(missing);
  return new Generator([...batches, [...last, ...Array<Value>(missing).fill(filler)]]);
};

/** So many lists of about the same length, the longer ones first. */
export const slice: Filter = (value, args, named) => {
  const count = wholeNumber(argument(args, named, 0, 'slices', null));
  const filler = argument(args, named, 1, 'fill_with', null);
  if (count === 0) throw new TemplateFault('ZeroDivisionError', 'integer division or modulo by zero');
  spend(8 * Math.max(0, count));
  const items = iterate(value);
  const [least, longer] = [Math.floor(items.length / count), items.length % count];
  const slices: Value[][] = [];
  for (let i = 0; i < count; i++) {
    const start = i * least + Math.min(i, longer);
    const own = items.slice(start, start + least + (i < longer ? 1 : 0));
    slices.push(filler !== null && i >= longer ? [...own, filler] : own);
  }
  return new Generator(slices);
};

export const reverse: Filter = (value) =>
  typeof value === 'string' ? characters(value).toReversed().join('') : new Generator([...iterate(value)].reverse());
