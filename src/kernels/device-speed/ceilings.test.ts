import { describe, expect, it } from 'vitest';
import { Plan } from '../../gpu/plan.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { multiplyAddsReference, xorOf } from './ceilings.reference.ts';
import { multiplyAdds, streamWords } from './ceilings.ts';

describe.each(['all', 'baseline'] as const)('on a device with %s features', (features) => {
  it.each([1, 63, 64, 1000, 12_345])('stream-words reads all of %i cells', async (cells) => {
    const gpu = await testGpu(features);
    const words = Uint32Array.from({ length: cells * 4 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
    const input = gpu.activation(1, cells * 4, 'input');
    const output = gpu.activation(1, 256, 'output');
    const plan = new Plan(gpu);
    streamWords(plan, { input, output }, { cells, lanes: 256 });
    await plan.ready();
    gpu.device.queue.writeBuffer(input.buffer, 0, words);
    const { submission } = gpu;
    submission.run(plan, { keys: 0 });
    const read = submission.read(output);
    submission.submit();
    expect(xorOf(new Uint32Array(await read))).toBe(xorOf(words));
  });

  it.each([
    [0, 1, 1],
    [7, 1, 1],
    [5, 2, 3],
  ])('multiply-adds makes %i steps', async (repeats, factor, term) => {
    const gpu = await testGpu(features);
    const output = gpu.activation(1, 128, 'output');
    const plan = new Plan(gpu);
    multiplyAdds(plan, { output }, { lanes: 128, repeats, factor, term });
    await plan.ready();
    const { submission } = gpu;
    submission.run(plan, { keys: 0 });
    const read = submission.read(output);
    submission.submit();
    const expected = multiplyAddsReference(repeats, factor, term);
    expect([...new Float32Array(await read)]).toEqual(Array(128).fill(expected));
  });
});
