// Jinja's tests: `x is defined`, `selectattr("role", "==", "user")`.

import { Float, LongInteger } from './numbers.ts';
import { arithmetic, holds } from './operators.ts';
import { found, Generator, isEqual, isList, isNumber, Markup, Tuple, textOf, Undefined, type Value } from './values.ts';

type Test = (value: Value, ...args: readonly Value[]) => boolean;

const comparison =
  (sign: string): Test =>
  (value, other) =>
    holds(sign, value, other ?? null);

const isSequence = (value: Value): boolean =>
  typeof value === 'string' || isList(value) || [Map, Markup, Tuple, Undefined].some((kind) => value instanceof kind);

const TESTS: Readonly<Record<string, Test>> = {
  '!=': comparison('!='),
  '<': comparison('<'),
  '<=': comparison('<='),
  '==': comparison('=='),
  '>': comparison('>'),
  '>=': comparison('>='),
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => typeof value === 'function',
  defined: (value) => !(value instanceof Undefined),
  divisibleby: (value, by) => isEqual(arithmetic('%', value, by ?? null), 0),
  eq: comparison('=='),
  equalto: comparison('=='),
  escaped: (value) => value instanceof Markup,
  even: (value) => isEqual(arithmetic('%', value, 2), 0),
  false: (value) => value === false,
  float: (value) => value instanceof Float,
  ge: comparison('>='),
  greaterthan: comparison('>'),
  gt: comparison('>'),
  in: comparison('in'),
  integer: (value) => typeof value === 'number' || value instanceof LongInteger,
  iterable: (value) => isSequence(value) || value instanceof Generator,
  le: comparison('<='),
  lessthan: comparison('<'),
  lower: (value) => textOf(value) !== textOf(value).toUpperCase() && textOf(value) === textOf(value).toLowerCase(),
  lt: comparison('<'),
  mapping: (value) => value instanceof Map,
  ne: comparison('!='),
  none: (value) => value === null,
  number: (value) => isNumber(value) || typeof value === 'boolean' || value instanceof LongInteger,
  odd: (value) => isEqual(arithmetic('%', value, 2), 1),
  sameas: (value, other) => value === other,
  sequence: isSequence,
  string: (value) => typeof value === 'string' || value instanceof Markup,
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value) => textOf(value) !== textOf(value).toLowerCase() && textOf(value) === textOf(value).toUpperCase(),
};

export const runTest = (name: string, value: Value, args: readonly Value[] = []): boolean =>
  found(TESTS, name, 'test')(value, ...args);
