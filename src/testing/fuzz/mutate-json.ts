// Damages JSON documents where it hurts: values become extremes or other types, keys are dropped, renamed or doubled,
// lists grow, shrink and nest.
import { pick, type Random } from './random.ts';

const EXTREMES: readonly unknown[] = [
  0,
  -1,
  1,
  0.5,
  2 ** 30,
  2 ** 31,
  2 ** 32 - 6,
  2 ** 53,
  -(2 ** 53),
  1e308,
  '',
  'x'.repeat(3000),
  '__proto__',
  'null',
  '9007199254740993',
  true,
  false,
  null,
  [],
  {},
  [[[[[[]]]]]],
  [2 ** 31],
  { __proto__: null, a: 1 },
];

const NAMES = ['__proto__', 'constructor', 'toString', 'length', 'x'] as const;

type Box = unknown[] | Record<string, unknown>;

const isBox = (value: unknown): value is Box => typeof value === 'object' && value !== null;

/** Every list and object of a document, the outermost first. */
const boxes = (value: unknown): Box[] => (isBox(value) ? [value, ...Object.values(value).flatMap(boxes)] : []);

const change = (box: Box, below: Random, all: readonly Box[]): void => {
  const keys = Object.keys(box);
  const key = keys.length > 0 ? pick(keys, below) : 'x';
  const put = (name: string, value: unknown): void => {
    Object.defineProperty(box, name, { value, enumerable: true, configurable: true, writable: true });
  };
  const value = structuredClone(pick(EXTREMES, below));
  switch (below(8)) {
    case 0:
      if (Array.isArray(box)) box.splice(below(box.length + 1), 1);
      else delete box[key];
      break;
    case 1:
      if (Array.isArray(box)) box.splice(below(box.length + 1), 0, value);
      else put(pick(NAMES, below), value);
      break;
    case 2: {
      const number = (box as Record<string, unknown>)[key];
      put(
        key,
        typeof number === 'number'
          ? pick([number + 1, number - 1, -number, number * 2 ** 20, number / 2], below)
          : value,
      );
      break;
    }
    case 3:
      put(key, structuredClone(pick(all, below)));
      break;
    case 4:
      if (Array.isArray(box)) box.reverse();
      else put(key, [(box as Record<string, unknown>)[key]]);
      break;
    default:
      put(key, value);
  }
};

/** A damaged copy: one to four changes. */
export const mutateJson = <T>(document: T, below: Random): T => {
  const copy = { document: structuredClone(document) as unknown };
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const all = boxes(copy.document);
    if (all.length === 0) break;
    change(pick(all, below), below, all);
  }
  return copy.document as T;
};
