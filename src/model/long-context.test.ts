// A context of 1920 rows on SmolLM2: what a token costs there compared with one after 128 rows, and how far the logits
// move where keys and values are kept at f16 or q8. Slow: only with OUTRIDER_FULL=1.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { median } from '../base/statistics.ts';
import { CACHE_PRECISIONS } from '../kernels/cache/cache-precision.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { loadShared } from '../testing/goldens/golden.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import type { CachedCursor } from './cache/cursor.ts';

const FULL = process.env.OUTRIDER_FULL === '1';
const MODEL = 'models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf';
const [NEAR, FAR] = [128, 1920];
const PASSES = 24;

/** Milliseconds of all processors, which other programs on the machine change less than the clock: lavapipe runs here. */
const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const best = (logits: Float32Array): number => logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
const deviationOf = (logits: Float32Array): number => {
  const mean = logits.reduce((sum, x) => sum + x, 0) / logits.length;
  return Math.sqrt(logits.reduce((sum, x) => sum + (x - mean) ** 2, 0) / logits.length);
};

describe.skipIf(noShared || !FULL)('SmolLM2', () => {
  test('what a token costs after 1920 rows and after 128; f16 and q8 move the logits little', async () => {
    const text = JSON.parse(readFileSync(shared('golden/smollm2/case.json'), 'utf8')).perplexity.ids as number[];
    const ids = Array.from({ length: FAR }, (_, i) => text[i % text.length] as number);
    using model = await loadShared(await testGpu(), MODEL, { batchInvariant: true });
    const exact: Float32Array[] = [];
    for (const cache of CACHE_PRECISIONS) {
      using near = await model.open({ capacity: 2048, cache });
      using far = await model.open({ capacity: 2048, cache });
      await near.extend(ids.slice(0, NEAR));
      let logits = await (await far.extend(ids)).logits.read();
      const step = async (cursor: CachedCursor, token: number) => {
        const [began, used] = [performance.now(), processorTime()];
        const pass = cursor.forward({ tokens: [token], parents: [-1] });
        const logits = await pass.logits.read();
        const times = { clock: performance.now() - began, processor: processorTime() - used };
        pass.accept([0]);
        return { logits, times };
      };
      const short: { clock: number; processor: number }[] = [];
      const long: typeof short = [];
      const apart = { most: 0, mean: 0, same: 0, widestLost: 0 };
      for (let i = 0; i < PASSES; i++) {
        if (cache === 'f32') exact.push(logits);
        const wanted = exact[i] as Float32Array;
        const unit = deviationOf(wanted);
        const differences = wanted.map((x, j) => Math.abs(x - (logits[j] as number)) / unit);
        apart.most = differences.reduce((a, b) => Math.max(a, b), apart.most);
        apart.mean += differences.reduce((sum, x) => sum + x, 0) / differences.length / PASSES;
        const token = best(wanted); // every precision reads what f32 writes
        const other = best(logits);
        if (other === token) apart.same++;
        else
          apart.widestLost = Math.max(apart.widestLost, ((wanted[token] as number) - (wanted[other] as number)) / unit);
        short.push((await step(near, ids[NEAR + i] as number)).times);
        const after = await step(far, token);
        long.push(after.times);
        logits = after.logits;
      }
      const costs = (['clock', 'processor'] as const).map((by) => {
        const [a, b] = [short, long].map((times) => median(times.map((each) => each[by]))) as [number, number];
        return {
          by,
          ratio: b / a,
          text: `${a.toFixed(1)} → ${b.toFixed(1)} ms by the ${by} (${(b / a).toFixed(2)} ×)`,
        };
      });
      console.log(
        `${cache}: ${costs.map(({ text }) => text).join(', ')}; logits apart by at most ${apart.most.toExponential(1)}, ` +
          `in the mean ${apart.mean.toExponential(1)} standard deviations; same best token in ${apart.same} of ${PASSES}, ` +
          `widest gap lost ${apart.widestLost.toExponential(1)}`,
      );
      const processor = costs.find(({ by }) => by === 'processor');
      expect(processor?.ratio, `${cache}: a token after ${FAR} rows`).toBeLessThan(1.5);
      const bound = { f32: 0, f16: 2e-2, q8: 0.3 }[cache];
      expect(apart.most, `${cache}: logits`).toBeLessThanOrEqual(bound);
      expect(apart.widestLost, `${cache}: best tokens`).toBeLessThanOrEqual(bound);
    }
  }, 3_600_000);
});
