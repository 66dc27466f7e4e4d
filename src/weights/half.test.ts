import { expect, it } from 'vitest';
import { halfTable } from './dequantize.ts';
import { toHalf } from './half.ts';

it('gives every half back', () => {
  const table = halfTable();
  for (let bits = 0; bits < 65536; bits++) {
    const value = table[bits] as number;
    if (Number.isNaN(value)) expect(toHalf(value) & 0x7fff).toBeGreaterThan(0x7c00);
    else expect(toHalf(value)).toBe(bits);
  }
});

it('rounds to the nearest half, ties to even', () => {
  const table = halfTable();
  for (let bits = 0; bits < 0x7bff; bits++) {
    const low = table[bits] as number;
    const high = table[bits + 1] as number;
    const middle = (low + high) / 2;
    expect(toHalf(middle)).toBe(bits + (bits & 1));
    expect(toHalf(middle - (high - low) / 8)).toBe(bits);
    expect(toHalf(-middle - (high - low) / 8)).toBe((bits + 1) | 0x8000);
  }
  expect(toHalf(65519)).toBe(0x7bff);
  expect(toHalf(65520)).toBe(0x7c00);
  expect(toHalf(1e30)).toBe(0x7c00);
});
