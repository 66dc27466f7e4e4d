// Published models from end to end: tokens of greedy decoding as transformers writes them from the dequantised weights,
// at the file's own precision, Gemma at f32 too. Their files are not in ../shared: OUTRIDER_MODELS names a folder that
// has them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { goldenTensor, greedy, relativeError } from '../testing/goldens/golden.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { folderSource } from '../weights/files/folder.ts';
import { openCheckpoint } from '../weights/open.ts';
import { loadModel } from './load/load-model.ts';

const FOLDER = process.env.OUTRIDER_MODELS;
if (FOLDER === undefined) console.warn('\n*** OUTRIDER_MODELS is not set: Qwen and Gemma are not tested ***\n');
const TOLERANCE = 1e-3;

interface Prompt {
  readonly ids: readonly number[];
  readonly greedy: readonly number[];
  readonly greedy_gaps: readonly number[];
}

const MIB = 2 ** 20;
const QWEN = 'qwen2.5-coder-1.5b/qwen2.5-coder-1.5b-q4_k_m.gguf';

describe.skipIf(!existsSync(join(FOLDER ?? '', QWEN)))('Qwen2.5-Coder-1.5B', () => {
  test('takes 15 % more than its file on the device, and on the host 64 MiB and the largest tensor', async () => {
    const gpu = await testGpu();
    using checkpoint = await openCheckpoint(await folderSource(join(FOLDER as string, QWEN)));
    const largest = Math.max(...[...checkpoint.tensors.values()].map(({ bytes }) => bytes));
    const held = (): number => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const [before, onDevice] = [held(), gpu.bytes];
    let most = 0;
    const onProgress = (): void => {
      most = Math.max(most, held() - before);
    };
    using model = await loadModel(gpu, checkpoint, { batchInvariant: true, onProgress });
    const device = gpu.bytes - onDevice;
    console.log(
      `device ${(device / MIB).toFixed(0)} MiB for a file of ${(checkpoint.bytes / MIB).toFixed(0)} MiB ` +
        `(${((device / checkpoint.bytes - 1) * 100).toFixed(1)} % more), ` +
        `host ${(most / MIB).toFixed(0)} MiB, largest tensor ${(largest / MIB).toFixed(0)} MiB, ` +
        `ms: ${JSON.stringify(model.loadTimes)}`,
    );
    expect(device).toBeLessThan(1.15 * checkpoint.bytes);
    expect(most).toBeLessThan(64 * MIB + 1.07 * largest); // at 7 bits a weight instead of Q6_K's 6.56
  }, 900_000);
});

const GEMMA = 'gemma-3-270m-q4_k_m.gguf';
const GOLDENS = [
  ['gemma3-270m', GEMMA, 'f32'],
  ['gemma3-270m', GEMMA, 'as in the file'],
  ['qwen2.5-coder-1.5b', QWEN, 'as in the file'],
] as const;

describe.skipIf(noShared || FOLDER === undefined)('published models', () => {
  test.each(GOLDENS)(
    '%s, %s, %s',
    async (name, file, weights) => {
      const { prompts } = JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8')) as {
        prompts: Prompt[];
      };
      using checkpoint = await openCheckpoint(await folderSource(join(FOLDER as string, file)));
      const precision = weights === 'f32' ? { precision: weights } : {};
      using model = await loadModel(await testGpu(), checkpoint, { ...precision, batchInvariant: true });
      for (const [i, { ids, greedy: expected, greedy_gaps: gaps }] of prompts.entries()) {
        if (i === 0 && weights === 'f32') {
          using cursor = await model.open({ capacity: ids.length });
          const logits = await (await cursor.extend(ids)).logits.read();
          expect(relativeError(logits, goldenTensor(name, 'logits_first_prompt.f32'))).toBeLessThan(TOLERANCE);
        }
        const nearTie = gaps.findIndex((gap) => gap < 1e-2); // from there on either token may follow
        const sure = nearTie < 0 ? expected.length : nearTie;
        const written = await greedy(model, ids, expected.length);
        const same = written.findIndex((token, at) => token !== expected[at]);
        console.log(`${name}, ${weights}, prompt ${i}: ${same < 0 ? written.length : same} tokens equal`);
        expect(written.slice(0, sure)).toEqual(expected.slice(0, sure));
      }
    },
    900_000,
  );
});
