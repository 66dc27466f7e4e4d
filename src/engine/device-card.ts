// What a device can do, measured: the ceilings that every figure is held against, and what a pass over M rows costs the
// loaded target. The page's device card and `outrider bench` are made of it; it is a chunk that the first of them loads.
import { checkAborted } from '../base/errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { measureDevice } from './device-speed.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import { type VerifyCost, verifyCost } from './verify-cost.ts';

/** A device in numbers. */
export interface DeviceCard {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  /** A CPU pretending to be a GPU. */
  readonly software: boolean;
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly bandwidth_gb_per_second: number;
  readonly multiply_add_gflops: number;
  /** T(M) of the target; null where none is loaded. */
  readonly passes: (VerifyCost & { readonly model: string; readonly bytes: number }) | null;
}

/** What is being measured. */
export type Measuring = 'device' | 'passes';

/** How a device is measured. */
export interface MeasureOptions {
  readonly signal?: AbortSignal | undefined;
  /** What is measured now. */
  readonly onProgress?: ((what: Measuring) => void) | undefined;
  /** Times that each pass is measured. */
  readonly repeats?: number | undefined;
}

const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
] as const;
const REPEATS = 5;

export const measureCard = async (
  gpu: Gpu,
  target: Pick<LoadedModel, 'name' | 'model'> | undefined,
  { signal, onProgress, repeats = REPEATS }: MeasureOptions = {},
): Promise<DeviceCard> => {
  onProgress?.('device');
  const speed = await measureDevice(gpu);
  checkAborted(signal);
  if (target) onProgress?.('passes');
  const cost = target && (await verifyCost(target.model, repeats, signal));
  return {
    vendor: gpu.info.vendor,
    architecture: gpu.info.architecture,
    description: gpu.info.description || gpu.info.device,
    software: gpu.software,
    features: [...gpu.device.features].sort(),
    limits: Object.fromEntries(LIMITS.map((name) => [name, gpu.device.limits[name]])),
    ...speed,
    passes: target && cost ? { model: target.name, bytes: target.model.bytes, ...cost } : null,
  };
};
