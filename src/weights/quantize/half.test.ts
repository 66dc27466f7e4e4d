import { expect, it } from 'vitest';
import { halfTable } from './dequantize.ts';
import { toHalf } from './half.ts';

const table = halfTable();

it('gives every half back', () => {
  const changed = [...table.keys()].filter((bits) => {
    const back = toHalf(table[bits] as number);
    return Number.isNaN(table[bits]) ? (back & 0x7fff) <= 0x7c00 : back !== bits;
  });
  expect(changed).toEqual([]);
});

it('rounds to the nearest half, ties to even', () => {
  const wrong: number[] = [];
  for (let bits = 0; bits < 0x7bff; bits++) {
    const low = table[bits] as number;
    const high = table[bits + 1] as number;
    const middle = (low + high) / 2;
    const step = (high - low) / 8;
    const even = toHalf(middle) === bits + (bits & 1);
    if (!even || toHalf(middle - step) !== bits || toHalf(-middle - step) !== ((bits + 1) | 0x8000)) wrong.push(bits);
  }
  expect(wrong).toEqual([]);
  expect([65519, 65520, 1e30, -1e30].map(toHalf)).toEqual([0x7bff, 0x7c00, 0x7c00, 0xfc00]);
});
