// RoPE tables under every scaling, against numbers computed by hand from the papers' formulas.
import { expect, test } from 'vitest';
import { inverseFrequencies, type RopeScaling, ropeTable, yarnScale } from './rope-table.ts';

const BASE = 10_000;
const DIM = 16;
const plain = (i: number): number => 1 / BASE ** ((2 * i) / DIM);
const frequencies = (scaling: RopeScaling, dim = DIM, base = BASE): number[] => [
  ...inverseFrequencies({ base, dimensions: dim, scaling }),
];

test('default and linear', () => {
  frequencies({ type: 'default' }).forEach((f, i) => {
    expect(f).toBeCloseTo(plain(i), 14);
  });
  frequencies({ type: 'linear', factor: 4 }).forEach((f, i) => {
    expect(f).toBeCloseTo(plain(i) / 4, 14);
  });
});

test('llama3: short wavelengths stay, long ones shrink, those in between are blended', () => {
  const scaling = {
    type: 'llama3',
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContext: 64,
  } as const;
  const actual = frequencies(scaling);
  // Wavelengths 2π·10000^(i/8): 6.3, 19.9 | 62.8 needs blending between 64/4 = 16 and 64/1 = 64 | 199 … are long.
  expect(actual[0]).toBe(plain(0));
  for (const i of [1, 2]) {
    const smooth = (64 / ((2 * Math.PI) / plain(i)) - 1) / (4 - 1);
    expect(smooth).toBeGreaterThan(0);
    expect(smooth).toBeLessThan(1);
    expect(actual[i]).toBeCloseTo((1 - smooth) * (plain(i) / 8) + smooth * plain(i), 14);
  }
  for (const i of [3, 4, 5, 6, 7]) expect(actual[i]).toBeCloseTo(plain(i) / 8, 16);
});

test('yarn: the ramp of the paper between 32 and 1 turns, and its attention factor', () => {
  const scaling = {
    type: 'yarn',
    factor: 4,
    originalContext: 32768,
    attentionFactor: yarnScale(4),
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  } as const;
  const [dim, base] = [128, 1_000_000];
  const actual = frequencies(scaling, dim, base);
  // d(β) = dim·ln(L / 2πβ) / 2·ln(base): 23.6 → 23 for β = 32, 39.7 → 40 for β = 1.
  const at = (turns: number): number => (dim * Math.log(32768 / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  expect([Math.floor(at(32)), Math.ceil(at(1))]).toEqual([23, 40]);
  actual.forEach((f, i) => {
    const extrapolated = base ** ((-2 * i) / dim);
    const ramp = Math.min(1, Math.max(0, (i - 23) / (40 - 23)));
    expect(f / (extrapolated * (1 - ramp) + (extrapolated / 4) * ramp)).toBeCloseTo(1, 12);
  });
  expect(yarnScale(4)).toBeCloseTo(1.138629, 6);
  const table = ropeTable({ base, dimensions: dim, scaling }, 2);
  expect(table[0]).toBeCloseTo(1.138629, 6); // cos 0 · factor
  expect(table[dim + 1]).toBeCloseTo(Math.sin(1) * 1.138629, 6); // position 1, frequency 1
});

test('divisors from a GGUF come before the scaling, as in ggml', () => {
  const all = [1, 2, 3, 4, 5, 6, 7, 8];
  const divided = (scaling: RopeScaling): number[] => [
    ...inverseFrequencies({ base: BASE, dimensions: DIM, scaling }, { all }),
  ];
  const yarn = {
    type: 'yarn',
    factor: 4,
    originalContext: 4096,
    attentionFactor: 1,
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  } as const;
  const scaled = frequencies(yarn);
  expect(scaled[7]).not.toBeCloseTo(plain(7), 6);
  // ggml's rope_yarn mixes the divided frequency with itself over the factor, and its ramp knows no divisors.
  divided(yarn).forEach((f, i) => {
    expect(f).toBeCloseTo((scaled[i] as number) / (i + 1), 14);
  });
  divided({ type: 'linear', factor: 99 }).forEach((f, i) => {
    expect(f).toBeCloseTo(plain(i) / (i + 1) / 99, 14);
  });
  divided({ type: 'default' }).forEach((f, i) => {
    expect(f).toBeCloseTo(plain(i) / (i + 1), 14);
  });
});

test('the table holds cos and sin of position · frequency, rounded once', () => {
  const table = ropeTable({ base: BASE, dimensions: DIM, scaling: { type: 'default' } }, 1000);
  for (const position of [0, 1, 517, 999])
    for (let i = 0; i < DIM / 2; i++) {
      expect(table[(position * 8 + i) * 2]).toBe(Math.fround(Math.cos(position * BASE ** ((-2 * i) / DIM))));
      expect(table[(position * 8 + i) * 2 + 1]).toBe(Math.fround(Math.sin(position * BASE ** ((-2 * i) / DIM))));
    }
});
