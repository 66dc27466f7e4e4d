// The memory estimate against what is then allocated, to the byte: both follow from the same declarations.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { TINY, TINY_LFM2, TINY_PHI3, TINY_QWEN35, tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Architecture } from '../architecture.ts';
import { Arena } from '../arena.ts';
import { readArchitecture, readDrafter } from '../families/families.ts';
import { makeScratch, scratchBytes } from '../forward/scratch.ts';
import { cacheEstimate } from './estimate.ts';
import { loadModel } from './load-model.ts';

const bundled = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../public/models', name, 'config.json'), 'utf8'));

const ARCHITECTURES: readonly (readonly [string, Architecture])[] = [
  ['a language model', readArchitecture(TINY)],
  ['a model that convolves', readArchitecture({ ...TINY, ...TINY_LFM2 })],
  ['a model with delta nets', readArchitecture({ ...TINY, ...TINY_QWEN35 })],
  ['a block drafter', readDrafter(bundled('dflash')).architecture],
  ['a drafter in its target’s files', readDrafter({ ...TINY, ...TINY_QWEN35 }).architecture],
  ['a drafter with a vocabulary of its own', readDrafter(bundled('eagle3')).architecture],
];

test.each(ARCHITECTURES)('scratch of %s', async (_, architecture) => {
  const gpu = await testGpu();
  const arena = new Arena(gpu);
  makeScratch(gpu, arena, architecture);
  expect(scratchBytes(architecture)).toBe(arena.bytes);
  arena.free();
});

test.each([
  ['f32', {}],
  ['f16', {}],
  ['f32', TINY_LFM2],
  ['f16', TINY_LFM2],
  ['f32', TINY_PHI3],
  ['f16', TINY_QWEN35],
  ['q8', { use_sliding_window: true, sliding_window: 10, max_window_layers: 1 }],
] as const)('an %s cache, with the scratch that grows with it %#', async (cache, config) => {
  const gpu = await testGpu();
  using model = await loadModel(gpu, tinyCheckpoint({ config }), { batchInvariant: true });
  const before = gpu.bytes;
  using cursor = await model.open({ capacity: 150, cache, spare: 0 });
  const size = { positions: 150, precision: cache, spare: 0 };
  expect(cacheEstimate(gpu, model.architecture, size)).toBe(cursor.cache.bytes);
  expect(gpu.bytes - before).toBeGreaterThanOrEqual(cursor.cache.bytes);
});
