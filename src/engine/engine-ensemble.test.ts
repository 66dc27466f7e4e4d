// Ensembles of real models: at temperature 0 every ensemble system writes the tokens of the plain one, for both
// combinations, two models and three; and what its rounds may cost.
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { collect, FULL, problems, type Way } from '../testing/contract/device-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { committedTokens, type EventOf } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createEngine, type Engine } from './engine.ts';

const WAYS: readonly Way[] = [
  { system: 'ensemble-parallel' },
  { system: 'ensemble-speculative' },
  { system: 'cos-naive' },
  { system: 'cos' },
  { system: 'cos', knobs: { gamma: [3], ahead: 4 } },
];
const COMBINATIONS = [
  { combine: 'weighted', lambda: [0.5] },
  { combine: 'contrastive', mu: 0.1 },
] as const;
const bundled = (name: string) => folderSource(resolve(import.meta.dirname, '../../public/models', name));

afterAll(async () => (await testGpu()).destroy());

describe.each([2, 3])('%i bundled models', (count) => {
  const load = async (): Promise<Engine> => {
    const engine = createEngine({ gpu: await testGpu() });
    const [target, draft, mid] = await Promise.all(['target', 'draft', 'mid'].map(bundled));
    if (!target || !draft || !mid) throw new Error('a bundled model is missing');
    await engine.load(count === 2 ? { target, draft } : { target, 'also-1': mid, 'also-2': draft }, {
      precision: 'q8',
    });
    return engine;
  };

  it('write the tokens of the plain ensemble, and commit a token and more a round', { timeout: 600_000 }, async () => {
    const engine = await load();
    for (const knobs of COMBINATIONS)
      for (const prompt of problems(FULL ? 50 : 4)) {
        const request = { prompt, maxTokens: 48, ignoreEos: true, knobs };
        const plain = committedTokens(await collect(engine, { ...request, system: 'ensemble' }));
        expect(plain).toHaveLength(48);
        for (const { system, knobs: own } of WAYS) {
          const events = await collect(engine, { ...request, system, knobs: { ...knobs, ...own } });
          expect({ system, knobs, own, tokens: committedTokens(events) }).toEqual({
            system,
            knobs,
            own,
            tokens: plain,
          });
          const work = events.filter(
            (event): event is EventOf<'kernels'> => event.type === 'kernels' && event.round > 0,
          );
          expect(work.length).toBeLessThanOrEqual(47);
          for (const { submits, readbacks, readback_bytes } of work) {
            expect({ system, submits, readbacks }).toEqual({ system, submits: 1, readbacks: 1 });
            expect(readback_bytes).toBeLessThan(1000);
          }
        }
      }
    await engine.close();
  });
});
