// Measures what a device can do: its ceilings, and what a pass over M rows costs the loaded target. The device card of
// the pages and `outrider bench` show it.
import { checkAborted } from '../base/errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { measureDevice } from './device-speed.ts';
import { inRange } from './in-range.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import { type VerifyCost, verifyCost } from './verify-cost.ts';

/** A device in numbers. */
export interface DeviceCard {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  /** A software adapter: the CPU does the work. */
  readonly software: boolean;
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly bandwidth_gb_per_second: number;
  readonly multiply_add_gflops: number;
  /** T(M) of the target; null when none is loaded. */
  readonly passes: (VerifyCost & { readonly model: string; readonly bytes: number }) | null;
}

/** What is being measured. */
export type Measuring = 'device' | 'passes';

/** Options of a measurement. */
export interface MeasureOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with what is measured next. */
  readonly onProgress?: ((what: Measuring) => void) | undefined;
  /** Times that each pass is measured. Default 5. */
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
  inRange('repeats', repeats, 1, 1000, true);
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
