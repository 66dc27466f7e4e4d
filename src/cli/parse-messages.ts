// JSON as Python reads it for a template: 1.0 and 1e3 are floats and stay so. JSON.parse makes them 1 and 1000, and a
// template would write other text than the model was trained on.
import { Float } from '../text/jinja/values.ts';

/** Strings, and numbers with a fraction or an exponent. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?=[.eE])(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export const parseWithFloats = (text: string): unknown => {
  JSON.parse(text); // its errors have places in the text as it is
  const key = `float ${crypto.randomUUID()}`;
  const wrapped = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `{"${key}":${token}}`));
  return JSON.parse(wrapped, (_, value: unknown) => {
    const number = (value as Readonly<Record<string, unknown>> | null)?.[key];
    return typeof number === 'number' ? new Float(number) : value;
  });
};
