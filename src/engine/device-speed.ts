// Measures a device's memory bandwidth and arithmetic speed. Data sheets have no figures for a software adapter.
import { median } from '../base/statistics.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import { Plan } from '../gpu/plan.ts';
import { FLOPS_A_REPEAT, multiplyAdds, streamWords } from '../kernels/device-speed/ceilings.ts';

export interface DeviceSpeed {
  readonly bandwidth_gb_per_second: number;
  readonly multiply_add_gflops: number;
}

/** More than any processor's cache, and within WebGPU's default limit of a binding. */
const STREAMED_BYTES = 128 * 2 ** 20;
/** With a quarter of them an H100 streamed 30 % less. */
const LANES = 2 ** 18;
const REPEATS = 64;
/** A submit lasts at least this long, so that its own cost does not count. */
const LONG_ENOUGH_MS = 40;
const MOST_RUNS = 4096;
const TIMINGS = 5;

/** Seconds that one replay of the plan takes. */
const timeReplay = async (gpu: Gpu, plan: Plan, output: Tensor): Promise<number> => {
  const time = async (runs: number): Promise<number> => {
    const start = performance.now();
    const { submission } = gpu;
    for (let i = 0; i < runs; i++) submission.run(plan, { keys: 0 });
    const read = submission.read({ ...output, bytes: 16 });
    submission.submit();
    await read;
    return performance.now() - start;
  };
  await time(1); // compiles
  let runs = 1;
  while ((await time(runs)) < LONG_ENOUGH_MS && runs < MOST_RUNS) runs *= 2;
  const times: number[] = [];
  for (let i = 0; i < TIMINGS; i++) times.push((await time(runs)) - (await time(0)));
  return median(times) / runs / 1000;
};

export const measureDevice = async (gpu: Gpu): Promise<DeviceSpeed> => {
  const { STORAGE, COPY_SRC } = GPUBufferUsage;
  const tensor = (bytes: number, label: string): Tensor => {
    const buffer = gpu.buffer(bytes, STORAGE | COPY_SRC, label);
    return { buffer, offset: 0, bytes, shape: [bytes / 4] };
  };
  const [input, output] = await gpu.allocating('a measurement', () => [
    tensor(STREAMED_BYTES, 'streamed'),
    tensor(LANES * 4, 'ceilings'),
  ]);
  const [stream, multiply] = [new Plan(gpu), new Plan(gpu)];
  try {
    streamWords(stream, { input, output }, { cells: STREAMED_BYTES / 16, lanes: LANES });
    multiplyAdds(multiply, { output }, { lanes: LANES, repeats: REPEATS, factor: 0.5, term: 1 });
    await Promise.all([stream.ready(), multiply.ready()]);
    const streaming = await timeReplay(gpu, stream, output);
    const multiplying = await timeReplay(gpu, multiply, output);
    return {
      bandwidth_gb_per_second: STREAMED_BYTES / streaming / 1e9,
      multiply_add_gflops: (LANES * REPEATS * FLOPS_A_REPEAT) / multiplying / 1e9,
    };
  } finally {
    for (const plan of [stream, multiply]) plan.destroy();
    for (const { buffer } of [input, output]) gpu.free(buffer);
  }
};
