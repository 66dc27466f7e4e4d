// Patterns of numbers against comparisons: every number of at most 15 digits matches if and only if it lies between the
// bounds. Numbers next to the bounds are tried most.
import { expect, it } from 'vitest';
import { integerPattern, multiplePattern, numberPattern } from './number-range.ts';

/** A linear congruential generator: the same cases every time. */
const randomOf = (seed: number) => (n: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

type Random = (n: number) => number;

const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random(10)).join('');
const sign = (random: Random): string => (random(2) === 0 ? '-' : '');

const decimal = (random: Random): string =>
  `${sign(random)}${Number(digits(random, random(5)))}.${digits(random, 1 + random(9))}`;

const ODD = [
  0,
  1,
  -1,
  0.5,
  1e-7,
  -1e-7,
  1.5e-9,
  5e-324,
  0.1 + 0.2,
  1e21,
  -1e21,
  999_999_999_999_999,
  1e15,
  1 / 3,
  9.99,
  10,
];

const bound = (random: Random): number =>
  [() => ODD[random(ODD.length)] as number, () => random(2000) - 1000, () => Number(decimal(random))][random(3)]?.() ??
  0;

/** The number itself, or one that differs in its last digits. */
const near = (x: number, random: Random): string => {
  const text = Math.abs(x) < 1e-6 ? x.toFixed(14) : Math.abs(x) < 1e15 ? String(x) : '999999999999999';
  const cut = text.slice(0, text.length - random(4));
  return [text, cut + digits(random, random(4)), (x + random(3) - 1).toFixed(random(4)), `${cut}.0`][
    random(4)
  ] as string;
};

/** How JSON writes numbers, with digits that a parser keeps. The zero below zero is left out: not every pattern has it. */
const isWritten = (text: string): boolean =>
  /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= 15 && !/^-0(\.0*)?$/.test(text);

const numbers = (random: Random, bounds: readonly number[]): readonly string[] =>
  Array.from({ length: 12 }, () => {
    const x = bounds[random(bounds.length)];
    return x === undefined || random(4) === 0 ? decimal(random) : near(x, random);
  }).filter(isWritten);

it('decimals between bounds', () => {
  const random = randomOf(1);
  const wrong: string[] = [];
  let [inside, outside] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    const names = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].filter(() => random(3) > 0);
    const bounds: Readonly<Record<string, number>> = Object.fromEntries(names.map((name) => [name, bound(random)]));
    const pattern = numberPattern(bounds);
    const matcher = pattern === null ? /$^/ : new RegExp(`^(${pattern})$`);
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = bounds;
    for (const text of numbers(random, Object.values(bounds))) {
      const x = Number(text);
      const expected =
        x >= (minimum ?? -Infinity) &&
        x <= (maximum ?? Infinity) &&
        x > (exclusiveMinimum ?? -Infinity) &&
        x < (exclusiveMaximum ?? Infinity);
      if (matcher.test(text) !== expected) wrong.push(`${text} ${JSON.stringify(bounds)}`);
      if (expected) inside++;
      else outside++;
    }
  }
  expect(wrong).toEqual([]);
  expect(Math.min(inside, outside)).toBeGreaterThan(2000);
});

it('whole numbers between bounds', () => {
  const random = randomOf(2);
  const wrong: string[] = [];
  for (let i = 0; i < 1000; i++) {
    const [least, most] = [bound(random), bound(random)].toSorted((a, b) => a - b) as [number, number];
    const matcher = new RegExp(`^(${integerPattern(least, most) ?? '$^'})$`);
    for (const text of numbers(random, [least, most])) {
      const x = Number(text);
      const expected = !text.includes('.') && x >= least && x <= most;
      if (matcher.test(text) !== expected) wrong.push(`${text} ${least} ${most}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('multiples', () => {
  const random = randomOf(3);
  const wrong: string[] = [];
  for (let i = 0; i < 1000; i++) {
    const step = [1, 2, 4, 5, 10, 25, 100, 3, 7, 60][random(10)] as number;
    const [least, most] = [
      random(3) === 0 ? -Infinity : random(400) - 200,
      random(2) === 0 ? Infinity : 200 + random(200),
    ];
    const pattern = multiplePattern(step, least, most);
    if (pattern === undefined) continue;
    const matcher = new RegExp(`^(${pattern ?? '$^'})$`);
    for (let j = 0; j < 20; j++) {
      const x = random(2) * step * (random(300) - 150) + random(2) * (random(1000) - 500);
      const expected = x % step === 0 && x >= least && x <= most;
      if (matcher.test(String(x)) !== expected) wrong.push(`${x} ${step} ${least} ${most}`);
    }
  }
  expect(wrong).toEqual([]);
});

it.each([2, 5, 8, 100, 1000])('multiples of %i, which divides 1000, between any bounds', (step) => {
  const random = randomOf(step);
  const ends = [-Infinity, -123_456.5, -5 * step, -1, 0, 1, 10, 995, 100_000, 1_234_567, Infinity];
  const wrong: string[] = [];
  for (const least of ends)
    for (const most of ends.filter((each) => each > least)) {
      const matcher = new RegExp(`^(${multiplePattern(step, least, most) ?? '$^'})$`);
      for (let j = 0; j < 60; j++) {
        const end = [least, most, 0].filter(Number.isFinite)[random(3)] ?? random(1e9) * (random(2) - 0.5);
        const x = random(2) * step * (Math.trunc(end / step) + random(7) - 3) + random(2) * (random(9) - 4);
        const expected = x % step === 0 && x >= least && x <= most;
        if (matcher.test(String(x)) !== expected) wrong.push(`${x} ${step} ${least} ${most}`);
      }
      for (const text of ['-0', '00', '000', '0100']) if (matcher.test(text)) wrong.push(`${text} ${least} ${most}`);
    }
  expect(wrong).toEqual([]);
});

it.each([
  [{ exclusiveMinimum: 0 }, '0.05', true],
  [{ exclusiveMinimum: 0 }, '0.0', false],
  [{ minimum: 0.5, maximum: 1 }, '0.75', true],
  [{ minimum: 1e-7 }, '0.0', false],
  [{ exclusiveMaximum: 1000 }, '999.999999999999999', false], // a parser reads 1000
] as const)('%o: %s', (bounds, text, expected) => {
  expect(new RegExp(`^(${numberPattern(bounds)})$`).test(text)).toBe(expected);
});
