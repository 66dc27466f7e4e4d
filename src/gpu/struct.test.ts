import { expect, test } from 'vitest';
import { defineStruct, listOf } from './struct.ts';

const PAIR = defineStruct('Pair', { token: 'u32', score: 'f32' });
const MIXED = defineStruct('Mixed', { parent: 'i32', shares: listOf('f32', 3), flags: 'u32' }, { flags: 7 });
const OPEN = defineStruct('Open', { count: 'u32', pairs: listOf(PAIR) });

test('the WGSL text has the fields in order, with their types', () => {
  expect(MIXED.wgsl).toBe('struct Mixed {\n  parent: i32,\n  shares: array<f32, 3>,\n  flags: u32,\n}\n');
  expect(OPEN.wgsl).toBe('struct Open {\n  count: u32,\n  pairs: array<Pair>,\n}\n');
  expect(OPEN.inner).toEqual([PAIR]);
  expect([PAIR.words, MIXED.words, OPEN.words]).toEqual([2, 5, 1]);
});

test('what is packed is unpacked; defaults and spare room are filled in', () => {
  const values = [
    { parent: -1, shares: [0.5, 0.25, 0] },
    { parent: 3, shares: [1, 2, 3], flags: 1 },
  ];
  const words = MIXED.pack(values, 3);
  expect(words.length).toBe(15);
  expect(MIXED.unpack(words.buffer)).toEqual([
    { ...values[0], flags: 7 },
    values[1],
    { parent: 0, shares: [0, 0, 0], flags: 0 },
  ]);
  expect(MIXED.pack([{ parent: 1, shares: [2] }])).toEqual(
    Uint32Array.of(1, new Uint32Array(Float32Array.of(2).buffer)[0] as number, 0, 0, 7),
  );
});

test('an array without a count has as many elements as the value or the buffer', () => {
  const pairs = [
    { token: 0xffff_ffff, score: -0.5 },
    { token: 2, score: 1.5 },
  ];
  const words = OPEN.pack([{ count: 2, pairs }]);
  expect(words.length).toBe(5);
  expect(OPEN.unpack(words.buffer)).toEqual([{ count: 2, pairs }]);
  expect(OPEN.unpack(words.buffer.slice(0, 12))).toEqual([{ count: 2, pairs: pairs.slice(0, 1) }]);
  expect(() => OPEN.pack([])).toThrow(/packs one value/);
});
