import { expect, it } from 'vitest';
import { askMemory } from './host-memory.ts';

const worker = (url: string, bytes: number) => ({
  bytes,
  attribution: [{ url: `https://example.org/assets/${url}`, scope: 'DedicatedWorkerGlobalScope' }],
});
const breakdown = [
  { bytes: 9, attribution: [] },
  { bytes: 7, attribution: [{ url: 'https://example.org/', scope: 'Window' }] },
  worker('engine-worker-abc.js', 5),
  worker('engine-worker-abc.js', 6),
  worker('peer-worker-def.js', 3),
];
const memory = { usedJSHeapSize: 100 };

it('an isolated page measures each worker', async () => {
  const memoryOf = await askMemory({ memory, measureUserAgentSpecificMemory: async () => ({ breakdown }) });
  expect(memoryOf('engine-worker')).toEqual({ bytes: 11, by: 'measureUserAgentSpecificMemory' });
  expect(memoryOf('peer-worker')).toEqual({ bytes: 3, by: 'measureUserAgentSpecificMemory' });
});

it('other pages measure their own heap, or nothing', async () => {
  const refused = () => Promise.reject(new Error('not isolated'));
  const heap = { bytes: 100, by: 'performance.memory' };
  expect((await askMemory({ memory, measureUserAgentSpecificMemory: refused }))('peer-worker')).toEqual(heap);
  expect((await askMemory({ memory }))('peer-worker')).toEqual(heap);
  expect((await askMemory({}))('peer-worker')).toBeNull();
});
