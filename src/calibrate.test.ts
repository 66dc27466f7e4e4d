import { describe, expect, it } from 'vitest';
import { calibrate } from './calibrate.ts';
import { createEngine, type Engine } from './engine.ts';
import specguard from './systems/specguard.ts';
import { toyLoaded } from './testing/contract.ts';
import { toyModel } from './testing/toy-model.ts';
import type { Tokenizer } from './text/tokenizer.ts';

/** Token 3 is a blank line. */
const tokenizer = {
  decode: (tokens: readonly number[]) => tokens.map((token) => (token === 3 ? '\n\n' : 'a')).join(''),
  stream: () => ({ push: () => '', end: () => '' }),
} as unknown as Tokenizer;

const toyDraft = async (): Promise<{ engine: Engine; layers: number }> => {
  const engine = createEngine({ systems: [specguard] });
  const model = toyModel({ vocabulary: 12, sharpness: 5 });
  const draft = { ...toyLoaded(model), tokenizer };
  await engine.load({ target: draft, draft });
  return { engine, layers: model.layers };
};

const prompts = Array.from({ length: 6 }, (_, i) => ({ tokens: [i, 4, 9] }));

describe('calibrate', () => {
  it('takes the usual range of each signal, of every way of rolling out', async () => {
    const { engine, layers } = await toyDraft();
    const told: number[] = [];
    const calibration = await calibrate(engine, {
      prompts,
      layers,
      maxTokens: 120,
      onProgress: (done, all) => told.push(done / all),
    });
    expect(calibration.steps).toBeGreaterThan(20);
    const { logprob, grounding } = calibration;
    expect(logprob[0]).toBeLessThan(logprob[1]);
    expect(logprob[1]).toBeLessThanOrEqual(0);
    expect(Object.keys(grounding)).toEqual([
      '1 layers, threshold',
      '2 layers, threshold',
      '3 layers, threshold',
      '4 layers, threshold',
      '3 layers, threshold, without the sink',
      '3 layers, plain',
      '3 layers, residual',
    ]);
    for (const [low, high] of Object.values(grounding)) expect(0 <= low && low < high && high <= 1).toBe(true);
    expect(told[0]).toBe(0);
    expect(told.every((share, i) => i === 0 || share > (told[i - 1] as number))).toBe(true);
  });

  it('refuses to speak of too few steps, and can be aborted', async () => {
    const { engine, layers } = await toyDraft();
    await expect(calibrate(engine, { prompts: prompts.slice(0, 1), layers, maxTokens: 30 })).rejects.toThrow(/too few/);
    const signal = AbortSignal.abort();
    await expect(calibrate(engine, { prompts, layers, maxTokens: 30, signal })).rejects.toThrow(/aborted/);
  });
});
