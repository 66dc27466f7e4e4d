import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { runKernel, tensorOf } from '../../testing/device/run-kernel.ts';
import { EMPTY_ROW } from '../../testing/toys/empty-row.ts';
import { CHOICE_WORDS } from '../sampling/sample.ts';
import { keepTokensReference } from './keep-tokens.reference.ts';
import { keepTokens } from './keep-tokens.ts';
import { packRows } from './rows.ts';

for (const features of ['all', 'baseline'] as const)
  test(`keep-tokens on ${features}: by value and from the token ring; padding keeps none`, async () => {
    const gpu = await testGpu(features);
    const ring = Array.from({ length: 40 }, (_, i) => 1000 + i);
    const entries = new Uint32Array(40 * CHOICE_WORDS);
    for (const [i, token] of ring.entries()) entries[i * CHOICE_WORDS] = token;
    for (const count of [1, 2, 16]) {
      const rows = Array.from({ length: count }, (_, i) => ({
        ...EMPTY_ROW,
        token: i % 2 ? 7 * i : 1e9,
        ringEntry: i % 2 ? 0 : 40 - i,
        slot: (i * 11) % 61,
        alive: Number(i !== 3),
      }));
      const before = Array.from({ length: 64 }, (_, i) => 500 + i);
      const tokens = tensorOf(gpu, Uint32Array.from(before));
      const tensors = { rows: tensorOf(gpu, packRows(rows, count)), tokenRing: tensorOf(gpu, entries), tokens };
      const [values] = await runKernel(gpu, [tokens], (plan) => keepTokens(plan, tensors, { rows: count }));
      const kept = new Uint32Array((values as Float32Array).buffer, 0, 64);
      expect([...kept]).toEqual(keepTokensReference(before, rows, ring));
    }
  });
