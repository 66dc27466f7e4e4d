// Python's operators: arithmetic, comparisons and slices.
import { percentFormat } from './format.ts';
import { Float } from './numbers.ts';
import {
  characters,
  checkLength,
  compare,
  contains,
  isEqual,
  isList,
  isNumber,
  joinMarkup,
  Markup,
  numberOf,
  spend,
  TemplateFault,
  Tuple,
  typeError,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** With the sign of the divisor, as Python has it. */
const modulo = (a: number, b: number): number => {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
};

const calculate = (sign: string, a: number, b: number): number => {
  switch (sign) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.round((a - modulo(a, b)) / b);
    case '%':
      return modulo(a, b);
    default:
      return a ** b;
  }
};

const numeric = (value: Value): value is number | boolean | Float => isNumber(value) || typeof value === 'boolean';

const repeat = (what: Value, count: number): Value | undefined => {
  const times = Math.max(0, count);
  if (typeof what === 'string') {
    checkLength(what.length * times);
    return what.repeat(times);
  }
  if (what instanceof Markup) return new Markup(repeat(what.text, count) as string);
  const items = what instanceof Tuple ? what.items : what;
  if (!isList(items)) return undefined;
  spend(items.length * times);
  const repeated = items.length > 0 ? Array.from({ length: times }, () => items).flat() : [];
  return what instanceof Tuple ? new Tuple(repeated) : repeated;
};

export const arithmetic = (sign: string, a: Value, b: Value): Value => {
  if (sign === '%' && typeof a === 'string') return percentFormat(a, b);
  if (numeric(a) && numeric(b)) {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (y === 0 && (sign === '/' || sign === '//' || sign === '%'))
      throw new TemplateFault('ZeroDivisionError', 'division by zero');
    if (x === 0 && y < 0 && sign === '**')
      throw new TemplateFault('ZeroDivisionError', '0.0 cannot be raised to a negative power');
    const number = calculate(sign, x, y);
    if (a instanceof Float || b instanceof Float || sign === '/' || (sign === '**' && y < 0)) return new Float(number);
    if (Number.isSafeInteger(number)) return number;
    throw new TemplateFault('OverflowError', 'whole numbers beyond 2**53 are not supported');
  }
  for (const value of [a, b]) if (value instanceof Undefined) throw value.fault;
  if (sign === '+') {
    if (a instanceof Markup || b instanceof Markup) return joinMarkup(a, b);
    if (typeof a === 'string' && typeof b === 'string') {
      checkLength(a.length + b.length);
      return a + b;
    }
    if (isList(a) && isList(b)) {
      spend((a.length + b.length) / 8);
      return [...a, ...b];
    }
    if (a instanceof Tuple && b instanceof Tuple) {
      spend((a.items.length + b.items.length) / 8);
      return new Tuple([...a.items, ...b.items]);
    }
    if (typeof a === 'string') throw typeError(`can only concatenate str (not "${typeName(b)}") to str`);
    if (isList(a)) throw typeError(`can only concatenate list (not "${typeName(b)}") to list`);
  }
  if (sign === '*') {
    const repeated = typeof a === 'number' ? repeat(b, a) : typeof b === 'number' ? repeat(a, b) : undefined;
    if (repeated !== undefined) return repeated;
  }
  throw typeError(`unsupported operand type(s) for ${sign}: '${typeName(a)}' and '${typeName(b)}'`);
};

export const holds = (sign: string, a: Value, b: Value): boolean => {
  switch (sign) {
    case '==':
      return isEqual(a, b);
    case '!=':
      return !isEqual(a, b);
    case 'in':
      return contains(b, a);
    case 'not in':
      return !contains(b, a);
    case '<':
      return compare(a, b, sign) < 0;
    case '>':
      return compare(a, b, sign) > 0;
    case '<=':
      return compare(a, b, sign) <= 0;
    default:
      return compare(a, b, sign) >= 0;
  }
};

/** `value[start:stop:step]`, with Python's meaning of negative and missing numbers. */
export const slice = (value: Value, start: Value, stop: Value, step: Value): Value => {
  const whole = (own: Value): number | null => {
    if (own === null || typeof own === 'number') return own;
    throw typeError('slice indices must be integers or None');
  };
  const by = whole(step) ?? 1;
  if (by === 0) throw new TemplateFault('ValueError', 'slice step cannot be zero');
  if (value instanceof Undefined) throw value.fault;
  const text = value instanceof Markup ? value.text : value;
  const items = typeof text === 'string' ? characters(text) : text instanceof Tuple ? text.items : text;
  if (!isList(items)) throw typeError(`'${typeName(value)}' object is not subscriptable`);
  const [low, high] = by > 0 ? [0, items.length] : [-1, items.length - 1];
  const place = (own: Value, otherwise: number): number => {
    const at = whole(own);
    return at === null ? otherwise : Math.max(low, Math.min(high, at < 0 ? at + items.length : at));
  };
  const [from, to] = [place(start, by > 0 ? low : high), place(stop, by > 0 ? high : low)];
  const taken: Value[] = [];
  spend(Math.abs(to - from) / 8);
  for (let i = from; by > 0 ? i < to : i > to; i += by) taken.push(items[i] as Value);
  if (typeof text === 'string') return taken.join('');
  return value instanceof Tuple ? new Tuple(taken) : taken;
};
