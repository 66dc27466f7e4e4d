import { expect, it } from 'vitest';
import { reflect } from './attributes.ts';

/** What the properties need of an element. */
class Attributes extends Map<string, string> {
  getAttribute(name: string): string | null {
    return this.get(name) ?? null;
  }
}
reflect(Attributes.prototype as unknown as HTMLElement);

const read = (attribute: string, text: string): unknown => {
  const property = attribute.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return Reflect.get(new Attributes([[attribute, text]]), property);
};

it.each([
  ['max-tokens', '1', 1],
  ['temperature', '0.7', 0.7],
  ['top-p', '1', 1],
  ['seed', '4294967295', 4294967295],
  ['history', '0', 0],
  ['speed', '.25', 0.25],
  ['speed', ' ', null],
])('%s="%s" is %d', (attribute, text, value) => {
  expect(read(attribute, text)).toBe(value);
});

it.each([
  ['max-tokens', 'many', 'a whole number from 1 on'],
  ['max-tokens', '0', 'a whole number from 1 on'],
  ['max-tokens', '1.5', 'a whole number from 1 on'],
  ['temperature', '-1', 'a number from 0 to 100'],
  ['top-p', '7', 'a number from 0 to 1'],
  ['seed', '-1', 'a whole number from 0 to 4294967295'],
  ['seed', '1e30', 'a whole number from 0 to 4294967295'],
  ['history', '-3', 'a whole number from 0 on'],
  ['history', '1.5', 'a whole number from 0 on'],
  ['speed', '0', 'a number above 0'],
  ['speed', '-1', 'a number above 0'],
  ['speed', 'Infinity', 'a number above 0'],
])('%s="%s" is refused by its name', (attribute, text, what) => {
  expect(() => read(attribute, text)).toThrow(`the attribute ${attribute} must be ${what}, not "${text}"`);
});
