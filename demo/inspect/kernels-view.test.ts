import { expect, test } from 'vitest';
import { sharesOf } from './kernels-view.ts';

test('kernels of one name are one bar, the longest first, and the shortest are summed up', () => {
  const spans = Array.from({ length: 12 }, (_, i) => ({ name: `k${i % 10}`, ms: i + 1 }));
  const shares = sharesOf(spans);
  expect(shares[0]).toEqual({ name: 'k1', ms: 2 + 12 });
  expect(shares.at(-1)).toEqual({ name: 'others', ms: 3 + 4 });
  expect(shares.reduce((sum, { ms }) => sum + ms, 0)).toBe(78);
});
