// Trees after a past in the cache: attention over one pass is compared bit for bit with causal passes.
import { expect } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { type AttentionTuning, attentionOf, attentionScratchBytes } from '../../kernels/attention/attention.ts';
import { branches, packRows, type Row } from '../../kernels/cache/rows.ts';
import { treeRowsReference } from '../../kernels/tree/tree-rows.reference.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { packKeys, packValues } from '../device/cache.ts';
import { exactNoise, noise, runKernel, strided, tensorOf } from '../device/run-kernel.ts';

/** Without features there are no subgroups. */
export const variantsOn = { all: ['staged', 'shuffle', 'split'], baseline: ['staged', 'split'] } as const;

/** A tree after a past of its own in the cache. */
export interface Planted {
  readonly prefix: number;
  readonly start: number;
  readonly base: number;
  readonly parents: readonly number[];
  /** The nodes that the pass has. */
  readonly nodes: readonly number[];
}

const CAPACITY = 320;

/**
 * One pass over some nodes of trees against a causal pass of each: its path in neighbouring slots, itself the last. The
 * pass has a cache that keeps the last `ring` slots, the causal ones keep all.
 */
export const checkTrees = async (
  gpu: Gpu,
  tuning: AttentionTuning,
  trees: readonly Planted[],
  window: number | null,
  ring = CAPACITY,
) => {
  const [heads, keyValueHeads, headDim, capacity] = [6, 2, 16, CAPACITY] as const;
  const random = exactNoise(trees[0]?.base ?? 0);
  const list = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);
  const plain = (): number[][][] => list(keyValueHeads, () => list(capacity, () => list(headDim, random)));
  const [keys, values] = [plain(), plain()];
  const stride = stride32(heads * headDim);
  const attention = attentionOf(tuning);
  const run = async (
    cache: readonly number[][][][],
    queries: readonly number[][],
    rows: readonly Row[],
    ring: number = capacity,
  ) => {
    const shape = {
      rows: rows.length,
      heads,
      keyValueHeads,
      headDim,
      capacity,
      ring,
      stored: 0,
      scale: headDim ** -0.5,
      softCap: 0,
    } as const;
    const output = gpu.activation(rows.length, stride, 'output');
    const tensors = {
      query: tensorOf(gpu, strided(queries, stride)),
      keys: tensorOf(gpu, packKeys(cache[0] ?? [], ring, 'f32')),
      values: tensorOf(gpu, packValues(cache[1] ?? [], ring, 'f32')),
      rows: tensorOf(gpu, packRows(rows, rows.length)),
      scratch: tensorOf(gpu, new Float32Array(attentionScratchBytes(shape, tuning) / 4).fill(Number.NaN)),
    };
    const [result] = await runKernel(
      gpu,
      [output],
      (plan) => attention(plan, { ...tensors, output }, shape),
      capacity,
      branches(rows),
    );
    return result as Float32Array;
  };
  const rows = trees.flatMap(({ prefix, start, base, parents, nodes }) => {
    const position = prefix + base - start;
    const place = { first: 0, count: parents.length, prefix, start, base, position, state: 0, window };
    const all = treeRowsReference(
      place,
      parents.map((parent) => ({ token: 0, ringEntry: 0, parent })),
    );
    return nodes.map((node) => all[node] as Row);
  });
  const queries = rows.map(() => list(heads * headDim, random));
  const inRing = (head: readonly number[][]): number[][] =>
    list(ring, () => []).map((_, place) => head[place + Math.floor((capacity - 1 - place) / ring) * ring] as number[]);
  const whole = await run(
    [keys, values].map((cache) => cache.map(inRing)),
    queries,
    rows,
    ring,
  );
  let i = 0;
  for (const { prefix, start, base, parents, nodes } of trees)
    for (const node of nodes) {
      const path = [node];
      while ((path[0] as number) > 0) path.unshift(parents[path[0] as number] as number);
      const depth = path.length - 1;
      // Whatever else lies in the cache is not to be seen.
      const causal = [keys, values].map((cache) =>
        cache.map((head) =>
          head.map((own, slot) => (slot < base ? own : (head[base + (path[slot - base] ?? capacity)] ?? own))),
        ),
      );
      const tree = rows[i] as Row;
      const row: Row = { ...tree, end: base + depth + 1, maskLow: 0, maskHigh: 0, chunkBoundary: 0 };
      const hidden = window === null ? 0 : Math.max(0, prefix + base - start + depth + 1 - window - prefix);
      const expected = await run(causal, [queries[i] as number[]], [{ ...row, start: start + hidden }]);
      expect(
        whole.subarray(i * stride, (i + 1) * stride),
        `base ${base}, node ${node} of ${parents.length}, window ${window}, ring ${ring}`,
      ).toEqual(expected);
      i++;
    }
};

/** A tree of n nodes whose branches are long. */
export const branching = (n: number, seed: number): number[] => {
  const random = noise(seed);
  return Array.from({ length: n }, (_, i) => (i === 0 ? -1 : Math.max(0, i - 1 - Math.floor(Math.abs(2 * random())))));
};

/** `count` of n nodes, the first and the last among them. */
export const some = (n: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.round((i * (n - 1)) / (count - 1)));
