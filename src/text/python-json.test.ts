import { expect, it } from 'vitest';
import { Float, LongInteger } from './jinja/numbers.ts';
import { parseWithFloats, textOfJson } from './python-json.ts';

it('floats stay floats, and texts and whole numbers what they are', () => {
  const text = '[1, 1.0, -2e3, 0.5, "1.0 and \\\\", "\\"2.0", {"1.5": [3.0, true, null, -7]}]';
  const float = (value: number) => new Float(value);
  expect(parseWithFloats(text)).toEqual([
    1,
    float(1),
    float(-2000),
    float(0.5),
    '1.0 and \\',
    '"2.0',
    { '1.5': [float(3), true, null, -7] },
  ]);
  for (const wrong of ['', '[1.]', '[.5]', '[1e]', '[01.0]']) expect(() => parseWithFloats(wrong)).toThrow(SyntaxError);
});

it('whole numbers beyond 2**53 keep their digits', () => {
  const text =
    '[9223372036854775807, -12345678901234567890, 9007199254740991, "12345678901234567890", 1234567890123456.5]';
  expect(parseWithFloats(text)).toEqual([
    new LongInteger('9223372036854775807'),
    new LongInteger('-12345678901234567890'),
    9007199254740991,
    '12345678901234567890',
    new Float(1234567890123456.5),
  ]);
});

it('a text of it has the numbers as they were', () => {
  const text = '{"a":[1,1.0,-0.5,1e+30,12345678901234567890,null,true],"b \\"c":{"d":"x"}}';
  expect(textOfJson(parseWithFloats(text))).toBe(text);
});
