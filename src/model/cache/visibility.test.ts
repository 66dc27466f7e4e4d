import { expect, test } from 'vitest';
import { packRows } from '../../kernels/cache/rows.ts';
import { treeRowsReference } from '../../kernels/tree/tree-rows.reference.ts';
import { treeRows } from './visibility.ts';

test('rows of chains and trees: windows, forks, parts of a tree, several roots', () => {
  let seed = 1;
  const below = (n: number): number => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed % n;
  };
  for (let round = 0; round < 300; round++) {
    const count = 1 + below(64);
    const jump = below(4); // 0: a chain
    const parents = Array.from({ length: count }, (_, i) => Math.max(-1, i - 1 - below(jump + 1)));
    const tokens = parents.map((_, i) => ({ token: i * 3, ringEntry: i % 3 }));
    const [prefix, own] = [below(130), below(70)];
    const start = prefix + (below(2) && 64);
    const window = [null, 1, 4, 30, 70][below(5)] as number | null;
    const first = below(count);
    const place = { first, count: 1 + below(count - first), prefix, start, base: start + own, window, state: below(3) };
    const rows = treeRows({ prefix, start, own, state: place.state }, { tokens, parents }, window, first, place.count);
    const nodes = tokens.map((token, i) => ({ ...token, parent: parents[i] as number }));
    const expected = treeRowsReference({ ...place, position: prefix + own }, nodes);
    expect(packRows(rows, 64), JSON.stringify({ ...place, parents })).toEqual(packRows(expected, 64));
  }
});
