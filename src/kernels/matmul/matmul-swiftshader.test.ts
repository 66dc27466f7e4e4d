// The bits of the matmul family on a second implementation of Vulkan: the one that Chromium carries for machines
// without a GPU (subgroups of 4, another compiler than Mesa's). The driver is chosen for the whole process, before Dawn
// opens: hence a file of its own, which vitest runs in a process of its own.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openNodeGpu } from '../../gpu/node.ts';
import { randomMatrix } from '../../testing/device/matrix.ts';
import { activations, differing, LANES, multiply, SLICED, tilingsOf } from '../../testing/device/multiply.ts';
import { matmulReference } from './matmul.reference.ts';
import { software } from './matmul-tuning.ts';

const DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const present = existsSync(DRIVER);
if (!present) console.warn(`\n*** ${DRIVER} is absent: kernels are NOT tested on SwiftShader ***\n`);
process.env.VK_DRIVER_FILES = DRIVER;
process.env.VK_ICD_FILENAMES = DRIVER;

describe.skipIf(!present)('on SwiftShader', { timeout: 600_000 }, () => {
  test.each(['f32', 'f16', 'q8', 'q6', 'q4', 'q4m'] as const)('%s: right, and no bit depends on M', async (format) => {
    const gpu = await openNodeGpu();
    expect(gpu.info.architecture).toBe('swiftshader');
    expect(gpu.software).toBe(true);
    const weights = randomMatrix(gpu, format, 33, 80);
    const x = activations(80);
    const expected = matmulReference(weights.at, 33, x, { epilogue: 'store' });
    const largest = Math.max(...expected.flat().map(Math.abs));
    for (const choice of [LANES, SLICED]) {
      const one = await multiply(gpu, weights, x, { rows: 1, choice });
      const errors = expected.flatMap((row, m) => row.map((value, n) => Math.abs(value - (one[m]?.[n] ?? Number.NaN))));
      expect(errors.findIndex((error) => !(error <= 1e-5 * largest))).toBe(-1);
      for (const rows of [2, 8, 16] as const) {
        const other = { ...choice, tilings: tilingsOf(32, rows === 8 ? 2 : 1) };
        expect(differing(one, await multiply(gpu, weights, x, { rows, choice: other }))).toBe(0);
      }
      if (choice === LANES)
        // and as this adapter runs it
        expect(differing(one, await multiply(gpu, weights, x, { rows: 16, choice: software(0) }))).toBe(0);
    }
    if (format === 'f32') {
      const gelu = await multiply(gpu, weights, x, { rows: 8, choice: LANES, epilogue: 'exact-gelu' });
      const wanted = matmulReference(weights.at, 33, x, { epilogue: 'exact-gelu' });
      const worst = Math.max(
        ...wanted.flatMap((row, m) => row.map((y, n) => Math.abs(y - (gelu[m]?.[n] ?? Number.NaN)))),
      );
      expect(worst).toBeLessThan(1e-5 * largest);
    }
    gpu.destroy();
  });
});
