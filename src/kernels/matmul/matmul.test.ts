import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { randomMatrix } from '../../testing/device/matrix.ts';
import { activations, differing, LANES, multiply, SLICED, tilingsOf } from '../../testing/device/multiply.ts';
import type { WeightFormat } from '../../weights/quantize/device-layout.ts';
import { exactGelu, matmulReference } from './matmul.reference.ts';
import { BUCKETS } from './matmul.ts';
import { matmulText } from './matmul-text.ts';
import { software } from './matmul-tuning.ts';

const FORMATS: readonly WeightFormat[] = ['f32', 'f16', 'q8', 'q6', 'q4', 'q4m'];

/** Every value within 1e-5 of the largest, and nothing written past the last output. */
const agree = (actual: readonly Float32Array[], expected: readonly (readonly number[])[]): void => {
  const largest = Math.max(...expected.flat().map(Math.abs));
  for (const [m, row] of expected.entries()) {
    const error = row.map((value, n) => Math.abs(value - (actual[m]?.[n] ?? Number.NaN)));
    expect(error.findIndex((e) => !(e <= 1e-5 * largest))).toBe(-1);
    expect([...(actual[m]?.subarray(row.length) ?? [])].every((pad) => pad === 1)).toBe(true);
  }
};

/** LLVM takes 0.1–0.5 s of processor time a variant, more by the clock on a busy machine. */
const TIMEOUT = { timeout: 600_000 };

describe.each(['all', 'baseline'] as const)('on lavapipe with %s features', TIMEOUT, (features) => {
  describe.each(FORMATS)('%s', (format) => {
    test.each([
      { N: 1, K: 31 },
      { N: 31, K: 33 },
      { N: 33, K: 80 },
      { N: 331, K: 96 },
      { N: 48, K: 576 },
    ])('equals the CPU reference at $N × $K, sliced or not', async ({ N, K }) => {
      const gpu = await testGpu(features);
      const weights = randomMatrix(gpu, format, N, K);
      const x = activations(K);
      const expected = matmulReference(weights.at, N, x, { epilogue: 'store' });
      for (const choice of [LANES, SLICED]) agree(await multiply(gpu, weights, x, { rows: 4, choice }), expected);
      weights.free();
    });

    test('adds to the residual, adds a bias, scales and caps, multiplies gate by up', async () => {
      const gpu = await testGpu(features);
      const weights = randomMatrix(gpu, format, 66, 64);
      const x = activations(64);
      const bias = Array.from({ length: 80 }, (_, n) => n / 64 - 0.5);
      const before = x.map(() => new Array<number>(66).fill(1));
      for (const choice of [LANES, SLICED])
        for (const shape of [
          { epilogue: 'store' },
          { epilogue: 'store', scale: 0.25, softCap: 3 },
          { epilogue: 'add' },
          { epilogue: 'add', scale: 0.22 },
          { epilogue: 'gelu' },
          { epilogue: 'exact-gelu' },
          { epilogue: 'silu-mul' },
          { epilogue: 'gelu-mul' },
        ] as const)
          agree(
            await multiply(gpu, weights, x, { rows: 4, choice, ...shape, bias }),
            matmulReference(weights.at, 66, x, shape, { bias, before }),
          );
      weights.free();
    });

    test('parts of a split matrix land in their rows', async () => {
      const gpu = await testGpu(features);
      const weights = randomMatrix(gpu, format, 70, 40, { maxBinding: 1024 });
      expect(weights.matrix.parts.length).toBeGreaterThan(2);
      const x = activations(40);
      for (const choice of [LANES, SLICED])
        agree(
          await multiply(gpu, weights, x, { rows: 4, choice, epilogue: 'silu-mul' }),
          matmulReference(weights.at, 70, x, { epilogue: 'silu-mul' }),
        );
      weights.free();
    });

    test('no bit depends on M, on the rows a lane owns, on the workgroup or on how the input is bound', async () => {
      const gpu = await testGpu(features);
      const weights = randomMatrix(gpu, format, 96, 576);
      const x = activations(576);
      for (const choice of [LANES, SLICED]) {
        const one = await multiply(gpu, weights, x, { rows: 1, choice });
        const other = { ...choice, tilings: tilingsOf(32, { 1: 4, 2: 4, 4: 1, 8: 2, 16: 1 }) };
        for (const rows of BUCKETS)
          expect(differing(one, await multiply(gpu, weights, x, { rows, choice: other }))).toBe(0);
        if (features === 'all' && choice.slices === 1)
          for (const rows of BUCKETS)
            for (const shared of [{ ...choice, together: 8 } as const, software(8)])
              expect(differing(one, await multiply(gpu, weights, x, { rows, choice: shared }))).toBe(0);
        for (const together of features === 'all' && choice.slices === 1 ? ([0, 8] as const) : [choice.together]) {
          const twice = await multiply(gpu, weights, [...x, ...x], { rows: 32, choice: { ...choice, together } });
          expect(differing([...one, ...one], twice)).toBe(0);
        }
        const input = choice.input === 'read' ? 'constant' : 'read';
        const rebound = { ...choice, input, tilings: tilingsOf(64, 4), unroll: choice.slices === 1 } as const;
        expect(differing(one, await multiply(gpu, weights, x, { rows: 8, choice: rebound }))).toBe(0);
      }
      weights.free();
    });
  });

  test('activations past 64 KiB run in several dispatches, past 8192 columns from storage, with the same bits', async () => {
    const gpu = await testGpu(features);
    for (const { K, dispatches } of [
      { K: 1536, dispatches: 2 },
      { K: 8224, dispatches: 1 },
    ]) {
      const weights = randomMatrix(gpu, 'q8', 20, K);
      const x = activations(K);
      const one = await multiply(gpu, weights, x, { rows: 1, choice: LANES });
      agree(one, matmulReference(weights.at, 20, x, { epilogue: 'store' }));
      const before = gpu.counters.dispatches;
      expect(differing(one, await multiply(gpu, weights, x, { rows: 16, choice: LANES }))).toBe(0);
      expect(gpu.counters.dispatches - before).toBe(dispatches);
      const four = { ...LANES, input: 'read', tilings: tilingsOf(16, 4, 4) } as const;
      expect(differing(one, await multiply(gpu, weights, x, { rows: 16, choice: four }))).toBe(0);
      expect(gpu.counters.dispatches - before).toBe(dispatches + 1);
      weights.free();
    }
  });

  test.runIf(features === 'all')(
    'lanes that own rows take eight to a binding: past 2048 columns from storage',
    async () => {
      const gpu = await testGpu(features);
      for (const { K, dispatches } of [
        { K: 1536, dispatches: 1 },
        { K: 2080, dispatches: 1 },
      ]) {
        const weights = randomMatrix(gpu, 'q4m', 20, K);
        const x = activations(K);
        const one = await multiply(gpu, weights, x, { rows: 1, choice: LANES });
        const before = gpu.counters.dispatches;
        const choice = { ...LANES, together: 8 } as const;
        expect(differing(one, await multiply(gpu, weights, x, { rows: 16, choice }))).toBe(0);
        expect(gpu.counters.dispatches - before).toBe(dispatches);
        weights.free();
      }
    },
  );
});

test.each([
  [-4, -0.00012668496733248],
  [-1, -0.15865525393146],
  [0, 0],
  [0.5, 0.34573123063701],
  [3, 2.9959503059051],
  [-300, 0],
  [300, 300],
])('GELU by the error function: of %f it is %f', (x, expected) => {
  expect(exactGelu(x)).toBeCloseTo(expected, 12);
});

test.each(['gelu', 'exact-gelu'] as const)('%s is within 1e-6 of its reference from -9 to 9', async (epilogue) => {
  const gpu = await testGpu();
  const weights = randomMatrix(gpu, 'f32', 900, 1);
  const x = Array.from({ length: 16 }, (_, m) => [18 * (m / 15)]);
  const [actual, expected] = [
    await multiply(gpu, weights, x, { rows: 16, choice: LANES, epilogue }),
    matmulReference(weights.at, 900, x, { epilogue }),
  ];
  const errors = expected.flatMap((row, m) => row.map((value, n) => Math.abs(value - (actual[m]?.[n] ?? Number.NaN))));
  expect(Math.max(...expected.flat())).toBeGreaterThan(8);
  expect(Math.max(...errors)).toBeLessThan(1e-6);
  weights.free();
});

test('the expanded text of a variant of each kind', () => {
  const shape = { format: 'q4m', rows: 2, bias: false, scale: 1, softCap: null, unroll: false } as const;
  const lanes = {
    ...shape,
    groups: null,
    slices: 1,
    workgroup: 16,
    input: 'constant',
    together: 8,
    perLane: 2,
  } as const;
  expect(matmulText({ ...lanes, epilogue: 'silu-mul' })).toMatchSnapshot('rows per lane');
  const sliced = { ...shape, groups: 3, slices: 4, workgroup: 32, input: 'read', together: 0, perLane: 1 } as const;
  expect(matmulText({ ...sliced, format: 'q8', epilogue: 'add' })).toMatchSnapshot('sliced');
});
