// Filters that give numbers: int, float, round, abs.
import { fixed } from './format.ts';
import { Float } from './numbers.ts';
import {
  argument,
  isNumber,
  type Named,
  numberOf,
  numeric,
  TemplateFault,
  textOf,
  Undefined,
  type Value,
  wholeNumber,
} from './values.ts';

type Filter = (value: Value, args: readonly Value[], named: Named) => Value;

const DIGITS = '\\d+(?:_\\d+)*';
const FLOAT = new RegExp(`^[-+]?(?:${DIGITS}\\.?(?:${DIGITS})?|\\.${DIGITS})(?:e[-+]?${DIGITS})?$`, 'i');

/** Python's float(text). */
const floatOf = (text: string): number | null => {
  if (FLOAT.test(text)) return Number(text.replaceAll('_', ''));
  const [, sign, word] = /^([-+]?)(inf|infinity|nan)$/i.exec(text) ?? [];
  if (word === undefined) return null;
  return word.toLowerCase() === 'nan' ? Number.NaN : sign === '-' ? -Infinity : Infinity;
};

const PREFIXES: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 16: '0x' };

/** Python's int(text, base). */
const intOf = (text: string, base: number): number | null => {
  const [, sign = '', written = ''] = /^([-+]?)(.*)$/s.exec(text.toLowerCase()) ?? [];
  const prefix = PREFIXES[base];
  const digits = prefix !== undefined && written.startsWith(prefix) ? written.slice(2).replace(/^_/, '') : written;
  if (!/^[\da-z]+(?:_[\da-z]+)*$/.test(digits)) return null;
  let number = 0;
  for (const digit of digits.replaceAll('_', '')) {
    const value = Number.parseInt(digit, 36);
    if (value >= base) return null;
    number = number * base + value;
  }
  return sign === '-' ? -number : number;
};

const safe = (number: number): number => {
  if (Number.isSafeInteger(number)) return number;
  throw new TemplateFault('OverflowError', 'whole numbers beyond 2**53 are not supported');
};

export const toInt: Filter = (value, args, named) => {
  const otherwise = argument(args, named, 0, 'default', 0);
  if (value instanceof Undefined) throw value.fault;
  const text = typeof value === 'string' ? value.trim() : null;
  const whole = text === null ? null : intOf(text, wholeNumber(argument(args, named, 1, 'base', 10)));
  if (whole !== null) return safe(whole);
  const number = text !== null ? floatOf(text) : isNumber(value) || typeof value === 'boolean' ? numberOf(value) : null;
  return number === null || !Number.isFinite(number) ? otherwise : safe(Math.trunc(number));
};

export const toFloat: Filter = (value, args, named) => {
  if (value instanceof Undefined) throw value.fault;
  if (isNumber(value) || typeof value === 'boolean') return new Float(numberOf(value));
  const number = typeof value === 'string' ? floatOf(value.trim()) : null;
  return number === null ? argument(args, named, 0, 'default', new Float(0)) : new Float(number);
};

/** To so many places, as Python rounds. */
const rounded = (number: number, places: number): number => {
  if (number === 0) return number;
  if (places >= 0) return Number(fixed(number, places));
  const unit = 10 ** -places;
  return Number(fixed(number / unit, 0)) * unit;
};

export const round: Filter = (value, args, named) => {
  const places = wholeNumber(argument(args, named, 0, 'precision', 0));
  const method = textOf(argument(args, named, 1, 'method', 'common'));
  const number = numeric(value);
  if (method === 'common') {
    const result = rounded(number, places);
    return value instanceof Float ? new Float(result) : result;
  }
  if (method !== 'ceil' && method !== 'floor')
    throw new TemplateFault('FilterArgumentError', 'method must be common, ceil or floor');
  // Python's ceil and floor give whole numbers, which have no -0.
  return new Float((Math[method](number * 10 ** places) + 0) / 10 ** places);
};

export const abs: Filter = (value) => {
  const number = Math.abs(numeric(value));
  return value instanceof Float ? new Float(number) : number;
};
