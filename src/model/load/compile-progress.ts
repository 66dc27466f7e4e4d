// The progress of compiling: how many pipelines a load has asked the device for, and how many of them are compiled.
import type { Gpu } from '../../gpu/device.ts';
import type { LoadProgress } from './checkpoint-tensors.ts';

/** Runs `compile`, and reports every pipeline that is asked for or compiled meanwhile. */
export const reportPipelines = async <T>(
  gpu: Gpu,
  onProgress: ((progress: LoadProgress) => void) | undefined,
  compile: () => Promise<T>,
): Promise<T> => {
  if (!onProgress) return compile();
  const before = { ...gpu.pipelines };
  const report = (): void => {
    const [asked, compiled] = [gpu.pipelines.asked - before.asked, gpu.pipelines.compiled - before.compiled];
    onProgress({ phase: 'compile', loaded: Math.min(compiled, asked), total: Math.max(1, asked) });
  };
  report();
  gpu.onPipeline.add(report);
  let made: T;
  try {
    made = await compile();
  } finally {
    gpu.onPipeline.delete(report);
  }
  const total = Math.max(1, gpu.pipelines.asked - before.asked);
  onProgress({ phase: 'compile', loaded: total, total });
  return made;
};
