// Python's `'%s of %d' % (a, b)` and `'{} of {:>3}'.format(a, b)`.

import { Float } from './numbers.ts';
import { fill } from './text.ts';
import {
  type Callable,
  characters,
  isNumber,
  lengthOf,
  numberOf,
  repr,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  typeName,
  type Value,
} from './values.ts';

const SPEC = /^(?:(.)(?=[<>^=]))?([<>^=]?)([-+ ]?)(#?)(0?)(\d{0,6})([,_]?)(?:\.(\d{1,2}))?([sdiufFeEgGxXob%]?)$/u;

/** The number with so many decimal places; of two that are as near, Python takes the even one. */
export const fixed = (number: number, places: number): string => {
  if (!Number.isFinite(number) || Math.abs(number) >= 1e21 || places > 80) return String(number);
  const away = number.toFixed(places); // of two that are as near, the one further from zero
  // No number of 53 bits has a 5, 19 zeros and more after that.
  const exact = number.toFixed(places + 20);
  const cut = exact.slice(0, -20).replace(/\.$/, '');
  return /50{19}$/.test(exact) && /[02468]$/.test(cut) ? cut : away;
};

const exponential = (size: number, places: number): string => {
  const [digits, power = ''] = size.toExponential(places).split('e');
  return `${digits}e${power[0]}${power.slice(1).padStart(2, '0')}`;
};

/** Six digits or so, without zeros at the end. */
const general = (size: number, digits: number): string => {
  const power = size === 0 ? 0 : Number(size.toExponential(digits - 1).split('e')[1]);
  const text = power < -4 || power >= digits ? exponential(size, digits - 1) : fixed(size, digits - 1 - power);
  return text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '');
};

/** Digits of a number as the kind asks for them, without a sign. */
const digitsOf = (size: number, kind: string, precision: string, own: string): string => {
  const places = Number(precision || 6);
  switch (kind) {
    case 'd':
    case 'i':
    case 'u':
      return String(Math.trunc(size));
    case 'x':
      return Math.trunc(size).toString(16);
    case 'X':
      return Math.trunc(size).toString(16).toUpperCase();
    case 'o':
      return Math.trunc(size).toString(8);
    case 'b':
      return Math.trunc(size).toString(2);
    case '%':
      return `${fixed(100 * size, places)}%`;
    case 'f':
    case 'F':
      return fixed(size, places);
    case 'e':
      return exponential(size, places);
    case 'E':
      return exponential(size, places).toUpperCase();
    case 'g':
      return general(size, Math.max(1, places));
    default:
      if (kind === '' && precision === '') return own;
      throw new TemplateFault('ValueError', `the format code '${kind || `.${precision}`}' is not supported`);
  }
};

/** One number or text as `%d`, `%.2f`, `{:>8}` … ask for it. `rightAligned`: texts too, as % has it. */
const formatted = (value: Value, spec: string, rightAligned = false): string => {
  const parts = SPEC.exec(spec);
  if (!parts) throw new TemplateFault('ValueError', `the format ${JSON.stringify(spec)} is not supported`);
  const [, given = '', align = '', sign = '', hash = '', zero = '', width = '', comma = '', precision = '', kind = ''] =
    parts;
  if (hash) throw new TemplateFault('ValueError', `the format ${JSON.stringify(spec)} is not supported`);
  let [text, mark] = ['', ''];
  if (value instanceof Float && 'dxXob'.includes(kind || 's'))
    throw new TemplateFault('ValueError', `Unknown format code '${kind}' for object of type 'float'`);
  const isNumeric = kind !== 's' && (isNumber(value) || (typeof value === 'boolean' && spec !== ''));
  if (isNumeric) {
    const number = numberOf(value);
    mark = number < 0 || Object.is(number, -0) ? '-' : sign.replace('-', '');
    const own = typeof value === 'boolean' ? String(number) : textOf(value).replace(/^-/, '');
    text = digitsOf(Math.abs(number), kind, precision, own);
    if (comma) text = text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, comma));
  } else if (kind !== '' && kind !== 's')
    throw new TemplateFault('ValueError', `Unknown format code '${kind}' for object of type '${typeName(value)}'`);
  else {
    text = textOf(value);
    if (precision !== '') text = characters(text).slice(0, Number(precision)).join('');
  }
  const missing = Math.max(0, Number(width) - lengthOf(mark + text));
  const filler = given || (zero && !align ? '0' : ' ');
  const side = align || (zero && isNumeric ? '=' : isNumeric || rightAligned ? '>' : '<');
  const left = side === '<' ? 0 : side === '^' ? missing >> 1 : missing;
  const [before, after] = [fill(left, filler), fill(missing - left, filler)];
  return side === '=' ? mark + before + text : before + mark + text + after;
};

/** `pattern % value`. */
export const percentFormat = (pattern: string, value: Value): string => {
  const items = value instanceof Tuple ? value.items : [value];
  let next = 0;
  const text = pattern.replace(
    /%(?:\(([^()]*)\))?([-+ 0#]*)(\d*)((?:\.\d+)?)(.?)/gsu,
    (whole, name: string | undefined, flags: string, width: string, precision: string, kind: string) => {
      if (kind === '%') return '%';
      if (kind === '' || !'sdiufFeEgGxXor'.includes(kind))
        throw new TemplateFault('ValueError', `unsupported format ${JSON.stringify(whole)}`);
      if (name === undefined && next >= items.length) throw typeError('not enough arguments for format string');
      if (name !== undefined && !(value instanceof Map)) throw typeError('format requires a mapping');
      const item = name === undefined ? items[next++] : (value as ReadonlyMap<Value, Value>).get(name);
      if (item === undefined) throw new TemplateFault('KeyError', `'${name}'`);
      const isText = kind === 's' || kind === 'r';
      if (!isText && !isNumber(item) && typeof item !== 'boolean')
        throw typeError(`%${kind} format: a real number is required, not ${typeName(item)}`);
      const has = (flag: string): string => (flags.includes(flag) ? flag : '');
      const spec =
        (has('-') && '<') + (isText ? '' : has('+') || has(' ')) + has('#') + (isText || has('-') ? '' : has('0'));
      // %d cuts off what comes after the point; %x refuses it.
      const number = 'diu'.includes(kind) && item instanceof Float ? Math.trunc(item.value) + 0 : item;
      const shown = isText ? (kind === 'r' ? repr(item) : textOf(item)) : number;
      return formatted(shown, spec + width + precision + (isText ? 's' : kind), true);
    },
  );
  if (next < items.length && !(value instanceof Map))
    throw typeError('not all arguments converted during string formatting');
  return text;
};

/** `text.format(…)`. Attributes and items of what is named are not read. */
export const braceFormat: (text: string) => Callable = (text) => (args, named) => {
  let next = 0;
  return text.replace(
    /\{\{|\}\}|\{([^{}:!]*)(?:!([rs]))?(?::([^{}]*))?\}|[{}]/g,
    (whole, name: string | undefined, how: string | undefined, spec: string = '') => {
      if (whole === '{' || whole === '}')
        throw new TemplateFault('ValueError', `Single '${whole}' encountered in format string`);
      if (name === undefined) return whole[0] as string;
      const at = name === '' ? next++ : /^\d+$/.test(name) ? Number(name) : -1;
      const value = at >= 0 ? args[at] : named.get(name);
      if (/[.[]/.test(name)) throw new TemplateFault('ValueError', `the field {${name}} is not supported`);
      if (value === undefined) throw new TemplateFault(at >= 0 ? 'IndexError' : 'KeyError', `format: ${name || at}`);
      return formatted(how ? (how === 'r' ? repr(value) : textOf(value)) : value, spec);
    },
  );
};
