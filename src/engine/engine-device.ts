// The device of an engine: opened when it is first needed, by one caller at a time, and replaced after a loss. A device
// that the caller brought is the caller's to replace.
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import { Gpu } from '../gpu/device.ts';

type Device = Gpu | GPUDevice;

/** An adapter has limits too, and no queue. */
const isDevice = (gpu: unknown): boolean =>
  gpu instanceof Gpu || (typeof gpu === 'object' && gpu !== null && 'queue' in gpu && 'limits' in gpu);

/** Throws `bad-request` where `gpu`, or what a function gave as one, is no device. */
export const checkDevice = (gpu: unknown): void => {
  if (isDevice(gpu)) return;
  throw refuse(
    `gpu must be a device, or a function that opens one, not ${shown(gpu)}`,
    'A device is what `await adapter.requestDevice()` gives, and an adapter what `await gpu.requestAdapter()` gives.',
  );
};

const overDevice = async (device: Device): Promise<Gpu> => {
  checkDevice(device);
  return device instanceof Gpu ? device : Gpu.over(device);
};

/** Two losses within so many milliseconds: the third device would go the same way. */
const TOO_SOON = 60_000;

export class EngineDevice {
  /** Null before the first use. One that has failed stays until the next one is open. */
  current: Gpu | null;
  readonly #open: () => Promise<Gpu>;
  /** False: the caller brought the device, and frees it. */
  readonly #owned: boolean;
  /** What becomes of a device in the end. */
  readonly #free: (gpu: Gpu) => void;
  #opening: Promise<Gpu> | null = null;
  #lastLoss = Number.NEGATIVE_INFINITY;

  /** `given`: a device, or what opens one. */
  constructor(given: Device | (() => Promise<Device>)) {
    this.#owned = typeof given === 'function';
    this.#free = (gpu) => {
      if (this.#owned) gpu.destroy();
      else if (gpu !== given) gpu.release(); // of a bare device, which the caller keeps: what the engine has made there
    };
    this.current = given instanceof Gpu ? given : null;
    this.#open = async () => overDevice(typeof given === 'function' ? await given() : given);
  }

  /** A device that works. Throws the failure of one that the caller brought. */
  async use(): Promise<Gpu> {
    const { current } = this;
    if (current && !current.failure) return current;
    if (current && !this.#owned) throw current.failure;
    this.#opening ??= this.#open()
      .then((gpu) => {
        this.current?.destroy();
        this.current = gpu;
        return gpu;
      })
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  /**
   * Why a run failed, where the device is to blame and another one may take its place: it was lost, or it ran out of memory
   * where no allocation expected that. Null: the run failed for another reason, or the device is the caller's. `gpu`: the
   * device that the run began on; a preflight may have opened the next one already.
   */
  async failure(gpu: Gpu | null): Promise<OutriderError | null> {
    if (!gpu || !this.#owned) return null;
    // A readback fails a moment before the loss is reported.
    await Promise.race([gpu.device.lost, new Promise((resolve) => setTimeout(resolve, 50))]);
    const { failure } = gpu;
    return failure?.code === 'device-lost' || failure?.code === 'out-of-memory' ? failure : null;
  }

  /** Models are loaded anew: losses before that do not count any more. */
  forgetLosses(): void {
    this.#lastLoss = Number.NEGATIVE_INFINITY;
  }

  /** Throws when the device was lost a moment ago already. */
  countLoss(failure: OutriderError): void {
    const now = performance.now();
    const again = now - this.#lastLoss < TOO_SOON;
    this.#lastLoss = now;
    if (!again) return;
    throw new OutriderError(
      failure.code,
      `the GPU device was lost twice within a minute: ${failure.message}`,
      'Close other pages that use the GPU, or choose a smaller model, precision or context; then load the model again.',
    );
  }

  /** Frees what the engine opened, also what is still being opened. */
  destroy(): void {
    if (this.current) this.#free(this.current);
    this.#opening?.then(this.#free, () => {});
  }
}
