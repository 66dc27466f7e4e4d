// A soak: random runs of all systems, three in ten aborted, with model swaps in between. Device memory must come back to
// the byte, and the JavaScript heap to within 10 %. `npm run soak` makes 500 runs; `npm test` a few, so that it stays whole.
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { toFault } from '../base/errors.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { RefusableMemory } from '../testing/device/refuse-memory.ts';
import { random } from '../testing/fuzz/random.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createEngine } from './engine.ts';
import type { ModelSources } from './sources.ts';

const RUNS = Number(process.env.OUTRIDER_SOAK ?? 8);
/** The soak ends early at this time, and says after how many runs. */
const MINUTES = Number(process.env.OUTRIDER_SOAK_MINUTES ?? 60);
/** Runs between two readings of the memory. */
const STRETCH = Math.max(2, Math.floor(RUNS / 10));
/** Somewhat more than three in ten, because some runs end before their abort. */
const ABORTED = 0.45;
const SWAPPED = 0.1;

const bundled = (name: string) => folderSource(resolve(import.meta.dirname, '../../public/models', name));
const named = async (roles: Readonly<Record<string, string>>): Promise<ModelSources> =>
  Object.fromEntries(
    await Promise.all(Object.entries(roles).map(async ([role, name]) => [role, await bundled(name)] as const)),
  );

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

it(`${RUNS} random runs leave the memory as it was`, async () => {
  const gpu = await openNodeGpu();
  const memory = new RefusableMemory(gpu);
  const engine = createEngine({ gpu });
  const families = [
    await named({
      ...{ target: 'target', draft: 'draft', dflash: 'dflash', eagle3: 'eagle3' },
      ...{ policy: 'blockpilot', prm: 'prm', router: 'router' },
    }),
    await named({ target: 'mid', draft: 'draft' }),
    await named({ target: 'target', draft: 'draft', 'also-1': 'mid' }),
  ];
  const below = random(20_261_127);
  const chance = (share: number): boolean => below(1000) < share * 1000;
  let family = 0;
  let loaded = await engine.load(families[family] as ModelSources);
  const used = new Set<string>();
  const counts = { runs: 0, aborted: 0, swaps: 0, failed: 0, tokens: 0 };

  const swap = async (next: number): Promise<void> => {
    if (next !== family) counts.swaps++;
    family = next;
    loaded = await engine.load(families[family] as ModelSources);
  };
  const run = async (): Promise<void> => {
    const system = loaded.systems[below(loaded.systems.length)]?.id as string;
    const abort = new AbortController();
    const cut = chance(ABORTED) ? below(6) : Number.POSITIVE_INFINITY;
    const timer = cut % 2 === 1 ? setTimeout(() => abort.abort(), 10 * cut) : undefined; // in the middle of a round
    const content = `Ida has ${below(90)} stones. Ida finds ${below(90)} more stones. How many stones does Ida have now?`;
    const request = {
      ...{ prompt: { messages: [{ role: 'user', content }] }, system, seed: below(1e6), maxTokens: 8 + below(40) },
      ...{ temperature: below(2), ...(chance(0.2) && { logprobs: 3 }) },
    };
    counts.runs++;
    used.add(system);
    let commits = 0;
    for await (const event of engine.run(request, abort.signal)) {
      if (event.type === 'commit') counts.tokens += event.tokens.length;
      if (event.type === 'commit' && commits++ === cut) abort.abort();
      if (event.type === 'done' && event.finish_reason === 'aborted') counts.aborted++;
    }
    clearTimeout(timer);
  };
  /** Without models: what stays belongs to the device, and to JavaScript. */
  const reading = async () => {
    await engine.load({});
    for (let i = 0; i < 3; i++) {
      await new Promise((done) => setTimeout(done, 50));
      collect();
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const idle = memory.bytes;
    await swap(0);
    return { idle, models: gpu.bytes, heap: heapUsed + arrayBuffers };
  };

  const began = performance.now();
  const readings: Awaited<ReturnType<typeof reading>>[] = [];
  while (counts.runs < RUNS && performance.now() - began < MINUTES * 60_000) {
    try {
      if (chance(SWAPPED)) await swap(below(families.length));
      await run();
    } catch (error) {
      throw new Error(`run ${counts.runs}: ${JSON.stringify(toFault(error))}`, { cause: error });
    }
    if (counts.runs % STRETCH === 0) readings.push(await reading());
  }
  const [first] = readings;
  const last = readings.at(-1);
  const minutes = (performance.now() - began) / 60_000;
  if (RUNS > 8) console.log(JSON.stringify({ ...counts, systems: used.size, minutes, readings }));
  expect(readings.map(({ idle, models }) => ({ idle, models }))).toEqual(
    readings.map(() => ({ idle: first?.idle, models: first?.models })),
  );
  expect(memory.outside).toEqual([]);
  expect(gpu.failure).toBeNull();
  if (RUNS > 8) expect(last?.heap).toBeLessThan(1.1 * (first?.heap ?? 0));
  await engine.close();
}, 4_000_000);
