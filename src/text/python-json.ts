// JSON as Python reads it for a template: 1.0 and 1e3 are floats and stay so, and whole numbers beyond 2**53 keep their
// digits. JSON.parse makes them 1 and 1000 and rounds the others, and a template would write other text than the model was
// trained on.
import { Float, LongInteger } from './jinja/numbers.ts';

/** Strings, numbers with a fraction or an exponent, and whole ones of many digits. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?=[.eE])(?:\.\d+)?(?:[eE][+-]?\d+)?|-?\d{16,}/g;

export const parseWithFloats = (text: string): unknown => {
  JSON.parse(text); // its errors have places in the text as it is
  const key = `number ${crypto.randomUUID()}`;
  const wrapped = text.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return token;
    if (/[.eE]/.test(token)) return `{"${key}":${token}}`;
    return Number.isSafeInteger(Number(token)) ? token : `{"${key}":"${token}"}`;
  });
  return JSON.parse(wrapped, (_, value: unknown) => {
    const number = (value as Readonly<Record<string, unknown>> | null)?.[key];
    if (typeof number === 'string') return new LongInteger(number);
    return typeof number === 'number' ? new Float(number) : value;
  });
};

/** The same as a text, in which the numbers are what they were. */
export const textOfJson = (value: unknown): string => {
  if (value instanceof LongInteger) return value.digits;
  if (value instanceof Float) return /^-?\d+$/.test(`${value.value}`) ? `${value.value}.0` : `${value.value}`;
  if (Array.isArray(value)) return `[${value.map(textOfJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${textOfJson(inner)}`)
    .join(',')}}`;
};
