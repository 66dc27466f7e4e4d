// Errors of a device are ordinary outcomes: a readback or an allocation rejects with a code and says what to do.
import { expect, test } from 'vitest';
import { toFault } from '../base/errors.ts';
import { openNodeGpu } from './node.ts';

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
  const size = Math.floor(gpu.device.limits.maxBufferSize / 16) * 16;
  const peak = gpu.peakBytes;
  const refused = gpu.allocating('weights of a model far too large', () => {
    // lavapipe's heap is the machine's memory: no machine that runs this has 16 TiB.
    for (let i = 0; i < (16 * 2 ** 40) / size && i < 4096; i++) gpu.buffer(size, 0x80, 'weights');
  });
  const fault = toFault(await refused.catch((error: unknown) => error));
  expect(fault).toMatchObject({ code: 'out-of-memory', message: expect.stringContaining('far too large') });
  expect(gpu.peakBytes).toBe(peak); // a peak of what was there, not of what was asked for
  const values = gpu.activation(1, 64, 'values');
  gpu.submission.upload(values, new Float32Array(64).fill(2));
  const read = gpu.submission.read(values);
  gpu.submission.submit();
  expect(new Float32Array(await read)[63]).toBe(2);
  gpu.destroy();
});
