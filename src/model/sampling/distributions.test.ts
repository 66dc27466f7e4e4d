// The memory of distributions is allocated when a run is about to draw drafts at random, shared by the models of a vocabulary,
// and freed with the last of them.
import { expect, test } from 'vitest';
import { UNIFORM_BYTES } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY } from '../../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import { loadModel } from '../load/load-model.ts';

const DISTRIBUTIONS = 48 * 64 * 4 + UNIFORM_BYTES;
/** Of each model: the constants of the ten plans that write distributions, and of the one that reads them. */
const CONSTANTS = 11 * 256;

test('distributions take memory when they are asked for, once for all models of a vocabulary', async () => {
  const gpu = await testGpu();
  const before = gpu.bytes;
  const load = () => loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const first = await load();
  const second = await load();
  const cursors = await Promise.all([first, second].map((model) => model.open({ capacity: 64 })));
  const loaded = gpu.bytes;
  for (const cursor of cursors) {
    await cursor.forward(chain([3, 4])).verify(null, GREEDY);
    cursor.rewind(1);
  }
  expect(gpu.bytes).toBe(loaded);
  for (const [i, cursor] of cursors.entries()) {
    await [first, second][i]?.keepDistributions();
    const sampling = { ...GREEDY, temperature: 1 };
    const { distribution, token } = cursor.forward(chain([3])).draw(0, sampling, { distribution: true });
    if (distribution) await cursor.forward(chain([3, token])).verify([distribution], { ...sampling, seed: 5 });
    expect(gpu.bytes - loaded).toBe(DISTRIBUTIONS + (i + 1) * CONSTANTS);
  }
  for (const each of [...cursors, first, second]) each[Symbol.dispose]();
  expect(gpu.bytes).toBe(before);
});

test('plans that are made while another model has the memory do not outlive it', async () => {
  const gpu = await testGpu();
  const load = () => loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  using first = await load();
  using second = await load();
  using other = await second.open({ capacity: 64 });
  await second.keepDistributions();
  using cursor = await first.open({ capacity: 64, nodes: 20 });
  other[Symbol.dispose](); // the last one that held it
  await first.keepDistributions();
  const sampling = { ...GREEDY, temperature: 1 };
  const pass = cursor.forward(chain(Array.from({ length: 20 }, (_, i) => i)));
  const [choice] = await pass.draw(19, sampling, { distribution: true }).read();
  expect(choice?.token).toBeLessThan(64);
  expect(gpu.failure).toBeNull();
});

test('a cursor that closes while another is being opened takes nothing from it', async () => {
  const gpu = await testGpu();
  using model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const closing = await model.open({ capacity: 64 });
  await model.keepDistributions();
  const opening = model.open({ capacity: 64, nodes: 20 });
  await new Promise((resolve) => setTimeout(resolve));
  closing[Symbol.dispose]();
  using cursor = await opening;
  const sampling = { ...GREEDY, temperature: 1 };
  const pass = cursor.forward(chain(Array.from({ length: 20 }, (_, i) => i)));
  const [choice] = await pass.draw(19, sampling, { distribution: true }).read();
  expect(choice?.token).toBeLessThan(64);
  expect(gpu.failure).toBeNull();
});
