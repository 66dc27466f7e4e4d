// What every kernel test does: put plain arrays on the device, record one plan, run it, read tensors back.
import { ACTIVATION, type Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';

/** A tensor with this content; any size, unlike a submission's upload ring. */
export const tensorOf = (gpu: Gpu, data: Float32Array | Uint32Array, label = 'test'): Tensor => {
  const bytes = Math.max(16, Math.ceil(data.byteLength / 16) * 16);
  const buffer = gpu.buffer(bytes, ACTIVATION, label);
  gpu.device.queue.writeBuffer(buffer, 0, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return { buffer, offset: 0, bytes, shape: [data.length] };
};

/** Records, runs once and reads `outputs`, as f32. */
export const runKernel = async (
  gpu: Gpu,
  outputs: readonly Tensor[],
  record: (plan: Plan) => void,
  keys = 0,
  branched = false,
): Promise<Float32Array[]> => {
  const plan = new Plan(gpu);
  record(plan);
  await plan.ready();
  const { submission } = gpu;
  submission.run(plan, { keys, branched });
  const reads = outputs.map((output) => submission.read(output));
  submission.submit();
  const arrays = await Promise.all(reads);
  plan.destroy();
  return arrays.map((array) => new Float32Array(array));
};

/** Rows `[count][width]` laid out with a stride, pads zero. */
export const strided = (rows: readonly (readonly number[])[], stride: number): Float32Array => {
  const data = new Float32Array(rows.length * stride);
  rows.forEach((row, i) => {
    data.set(row, i * stride);
  });
  return data;
};

/** Reproducible numbers, roughly normal; the kernels under test have their own generator, so this one is unlike it. */
export const noise = (seed: number): (() => number) => {
  let state = (seed * 2654435761 + 1) >>> 0;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return () => Math.fround((uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3));
};

/** The same in multiples of 1/64, which f16 holds exactly. */
export const exactNoise = (seed: number): (() => number) => {
  const random = noise(seed);
  return () => Math.round(random() * 64) / 64;
};

/** The largest difference, in units of the reference's standard deviation (about zero). */
export const deviation = (actual: ArrayLike<number>, expected: ArrayLike<number>): number => {
  if (actual.length !== expected.length) throw new Error(`${actual.length} values against ${expected.length}`);
  let worst = 0;
  let squares = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((actual[i] as number) - (expected[i] as number));
    worst = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.max(worst, difference);
    squares += (expected[i] as number) ** 2;
  }
  return worst / Math.max(1e-30, Math.sqrt(squares / Math.max(1, expected.length)));
};
