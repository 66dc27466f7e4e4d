// Errors of a device are ordinary outcomes: a readback or an allocation rejects with a code and says what to do.
import { expect, test, vi } from 'vitest';
import { toFault } from '../base/errors.ts';
import { RefusableMemory } from '../testing/device/refuse-memory.ts';
import { openGpu } from './device.ts';
import { openNodeGpu } from './node.ts';

test('where there is no WebGPU, the error says what to do about it there', async () => {
  const refused = () => openGpu(undefined).catch(toFault);
  expect(await refused()).toMatchObject({ code: 'no-webgpu', hint: expect.stringContaining('createEngine({ gpu })') });
  vi.stubGlobal('isSecureContext', true);
  expect(await refused()).toMatchObject({ hint: expect.stringContaining('a current Chrome') });
  vi.unstubAllGlobals();
});

test('a device that is lost during a readback rejects it, and every later one', async () => {
  const gpu = await openNodeGpu();
  const values = gpu.activation(1, 1024, 'values');
  const during = gpu.submission.read(values);
  gpu.submission.submit();
  gpu.destroy();
  await expect(during).rejects.toMatchObject({ code: 'device-lost', hint: expect.stringMatching(/load/i) });
  const after = gpu.submission.read(values);
  gpu.submission.submit();
  await expect(after).rejects.toMatchObject({ code: 'device-lost' });
  await gpu.device.lost;
  expect(gpu.failure).toMatchObject({ code: 'device-lost' });
});

test('memory that the device refuses is out-of-memory, named, and harms nothing else', async () => {
  const gpu = await openNodeGpu();
  const size = gpu.device.limits.maxBufferSize;
  const made: GPUBuffer[] = [];
  const refused = gpu.allocating('weights of a model far too large', () => {
    // lavapipe's heap is the machine's memory: no machine that runs this has 16 TiB.
    for (let i = 0; i < (16 * 2 ** 40) / size && i < 4096; i++)
      made.push(gpu.device.createBuffer({ size, usage: 0x80 }));
  });
  const fault = toFault(await refused.catch((error: unknown) => error));
  expect(fault).toMatchObject({ code: 'out-of-memory', message: expect.stringContaining('far too large') });
  for (const buffer of made) buffer.destroy();
  const values = gpu.activation(1, 64, 'values');
  gpu.submission.upload(values, new Float32Array(64).fill(2));
  const read = gpu.submission.read(values);
  gpu.submission.submit();
  expect(new Float32Array(await read)[63]).toBe(2);
  gpu.destroy();
});

test('the most memory in use counts what was there, not what was refused', async () => {
  const gpu = await openNodeGpu();
  const memory = new RefusableMemory(gpu);
  await gpu.allocating('a small cache', () => gpu.buffer(4096, GPUBufferUsage.STORAGE, 'keys'));
  const peak = gpu.peakBytes;
  memory.refuse(1);
  const roomy = () => [1, 2].map(() => gpu.buffer(65_536, GPUBufferUsage.STORAGE, 'keys'));
  await expect(gpu.allocating('a roomy cache', roomy)).rejects.toMatchObject({ code: 'out-of-memory' });
  expect({ refusals: memory.refusals, peak: gpu.peakBytes }).toEqual({ refusals: 1, peak });
  gpu.destroy();
});

test('a device without memory for its pools is destroyed', async () => {
  const gpu = await openNodeGpu();
  const { device, info } = gpu;
  const destroy = vi.spyOn(device, 'destroy');
  new RefusableMemory(gpu).refuse(0);
  const adapter = { features: new Set(), limits: device.limits, info, requestDevice: async () => device };
  const opened = openGpu({ requestAdapter: async () => adapter } as unknown as GPU);
  await expect(opened).rejects.toMatchObject({ code: 'out-of-memory' });
  expect(destroy).toHaveBeenCalledOnce();
});
