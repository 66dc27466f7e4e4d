// A real model: SmolLM2-135M from its Q4_1 GGUF, against transformers on the dequantised weights. Logits in f32 and as
// in the file (Q4_1 is kept without loss); greedy tokens as in the file; perplexity and batch invariance at q4 and q8.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { goldenTensor, greedy, loadShared, scoreRows } from '../testing/goldens/golden.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import type { Transformer } from './transformer.ts';

interface Prompt {
  readonly ids: readonly number[];
  readonly greedy: readonly number[];
  readonly greedy_gaps: readonly number[];
  readonly top50_ids: readonly number[];
  readonly top50_logits: readonly number[];
}
interface Case {
  readonly prompts: readonly Prompt[];
  readonly perplexity: { readonly ids: readonly number[]; readonly perplexity: number };
}

const FULL = process.env.OUTRIDER_FULL === '1';
const MODEL = 'models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf';

/** Perplexity of tokens 1 … from the logits of the rows before them. */
const perplexity = async (model: Transformer, ids: readonly number[]): Promise<number> => {
  using cursor = await model.open({ capacity: ids.length });
  let loss = 0;
  for (let from = 0; from < ids.length - 1; from += 16) {
    const part = ids.slice(from, Math.min(from + 16, ids.length - 1));
    const { logits } = await scoreRows(cursor, part);
    for (const [i] of part.entries()) {
      const row = logits.subarray(i * model.vocabulary, (i + 1) * model.vocabulary);
      const top = row.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY);
      const sum = row.reduce((total, x) => total + Math.exp(x - top), 0);
      loss += top + Math.log(sum) - (row[ids[from + i + 1] as number] as number);
    }
  }
  return Math.exp(loss / (ids.length - 1));
};

describe.skipIf(noShared).each([
  ['f32', 0.001],
  ['q4', 0.001],
  ['q8', 0.005],
] as const)('SmolLM2 at %s', (precision: Precision, tolerance) => {
  const golden = noShared ? null : (JSON.parse(readFileSync(shared('golden/smollm2/case.json'), 'utf8')) as Case);
  let model: Transformer;
  let hostBytes = 0;
  beforeAll(async () => {
    const hostMemory = (): number => process.memoryUsage().arrayBuffers;
    const before = hostMemory();
    const onProgress = (): void => {
      hostBytes = Math.max(hostBytes, hostMemory() - before);
    };
    model = await loadShared(await testGpu(), MODEL, { precision, onProgress });
  }, 300_000);
  afterAll(() => model[Symbol.dispose]());

  test('loading takes at most 64 MiB and the largest tensor of host memory', () => {
    const largest = model.vocabulary * model.hidden * 4;
    expect(hostBytes).toBeGreaterThan(0);
    expect(hostBytes).toBeLessThan(largest + 64 * 2 ** 20);
  });

  test('is batch invariant here, by the check at load', () => {
    expect(model.batchInvariant).toBe(true);
  });

  if (precision !== 'q8')
    test('logits within 5e-3', async () => {
      const { prompts } = golden as Case;
      using cursor = await model.open({ capacity: 256 });
      // The weights at f32 are those at q4, where every prompt is compared.
      const compared = FULL || precision !== 'f32' ? prompts : prompts.slice(0, 1);
      for (const [i, { ids, top50_ids, top50_logits }] of compared.entries()) {
        cursor.rewind(0);
        const logits = await (await cursor.extend(ids)).logits.read();
        const worst = Math.max(
          ...top50_ids.map((id, i) => Math.abs((logits[id] as number) - (top50_logits[i] as number))),
        );
        expect(worst).toBeLessThan(5e-3);
        if (i > 0) continue;
        const expected = goldenTensor('smollm2', 'logits_first_prompt.f32');
        expect(Math.max(...logits.map((x, id) => Math.abs(x - (expected[id] as number))))).toBeLessThan(5e-3);
      }
    }, 300_000);

  // The weights at f32 are those at q4, and the logits are compared at both: the rest would take half a minute.
  if (!FULL && precision === 'f32') return;

  if (precision !== 'q8')
    test('greedy tokens equal up to the first near tie', async () => {
      const { prompts } = golden as Case;
      // All five prompts would take most of a minute.
      for (const { ids, greedy: tokens, greedy_gaps: gaps } of FULL ? prompts : prompts.slice(1, 2)) {
        const tie = gaps.findIndex((gap) => gap < 1e-2);
        const certain = tie < 0 ? tokens.length : tie;
        expect((await greedy(model, ids, certain)).join(' ')).toBe(tokens.slice(0, certain).join(' '));
      }
    }, 300_000);

  test('perplexity of the reference text', async () => {
    const { ids, perplexity: expected } = (golden as Case).perplexity;
    expect(Math.abs((await perplexity(model, ids)) / expected - 1)).toBeLessThan(tolerance);
  }, 300_000);

  test('chunks of 1, 3, 5 and 16 rows give the same bits', async () => {
    const tokens = (golden as Case).perplexity.ids.slice(0, 16);
    using cursor = await model.open({ capacity: 64 });
    const { logits: alone } = await scoreRows(cursor, tokens, 1);
    for (const chunk of [3, 5, 16]) {
      cursor.rewind(0);
      const { logits } = await scoreRows(cursor, tokens, chunk);
      // toEqual on 786 432 numbers takes seconds; find the first difference instead.
      expect(logits.findIndex((x, i) => !Object.is(x, alone[i]))).toBe(-1);
    }
  }, 300_000);
});
