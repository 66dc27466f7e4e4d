import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { randomMatrix } from '../../testing/device/matrix.ts';
import { LANES, SLICED, tilingsOf } from '../../testing/device/multiply.ts';
import { candidatesOf, chooseTuning, matmulVariants, raceTuning, slicesOf, software } from './matmul-tuning.ts';

test('a software adapter is not raced', async ({ skip }) => {
  const gpu = await testGpu();
  skip(!gpu.software, 'a GPU is raced');
  const before = { ...gpu.counters };
  expect(await chooseTuning(gpu, [])).toEqual({ fallback: software(8), shapes: {} });
  expect(gpu.counters).toEqual(before);
  const baseline = await testGpu('baseline');
  expect(await chooseTuning(baseline, [])).toEqual({ fallback: software(0), shapes: {} });
});

test('a race keeps one candidate for each shape and frees what it took', { timeout: 600_000 }, async () => {
  const gpu = await testGpu();
  const wide = randomMatrix(gpu, 'q8', 2048, 256);
  const again = randomMatrix(gpu, 'q8', 2048, 256);
  const narrow = randomMatrix(gpu, 'q4', 32, 96);
  const bytes = gpu.bytes;
  const candidates = [{ ...SLICED, tilings: tilingsOf(32, 1) }, LANES] as const;
  const tuning = await raceTuning(gpu, [wide.matrix, again.matrix, narrow.matrix], () => candidates);
  expect(gpu.bytes).toBe(bytes);
  expect(Object.keys(tuning.shapes)).toEqual(['q8 2048×256', 'q4 32×96']);
  expect(candidates).toContain(tuning.shapes['q4 32×96']);
  // Barriers cost a software adapter several times the work, far beyond the noise of a busy machine.
  if (gpu.software) expect(tuning.shapes['q8 2048×256']).toBe(LANES);
  expect(JSON.parse(JSON.stringify(tuning))).toEqual(tuning);
  for (const matrix of [wide, again, narrow]) matrix.free();
});

test('what is raced never decides the order of a sum', () => {
  for (const rows of [1, 576, 4096, 4097, 32_768, 32_769, 262_144])
    expect(new Set(candidatesOf({ rows }).map(({ slices }) => slices))).toEqual(new Set([slicesOf(rows)]));
});

test('every variant is a shader, and workgroup memory stays within 16 KiB', { timeout: 600_000 }, async () => {
  const { device } = await testGpu();
  const variants = matmulVariants();
  expect(new Set(variants.map(({ name }) => name)).size).toBe(variants.length);
  for (const { name, wgsl } of new Map(variants.map((variant) => [variant.wgsl, variant])).values()) {
    const [, floats = '0'] = /var<workgroup> partial: array<f32, (\d+)>/.exec(wgsl) ?? [];
    expect(Number(floats) * 4, name).toBeLessThanOrEqual(16384);
    const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo();
    expect(messages.map(({ message }) => `${name}: ${message}`)).toEqual([]);
  }
});
