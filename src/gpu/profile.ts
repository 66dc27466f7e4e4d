// Where device time goes. While a profile is on, every dispatch gets a pass of its own with a timestamp at both ends,
// because WebGPU has timestamps at pass boundaries only. A profiled submission is therefore slower: trust the shares,
// not the totals. Browsers round timestamps to 0.1 ms; in Node they are exact. Each submission costs one more readback.
import { refuse } from '../base/refuse.ts';
import type { Staging } from './pools.ts';
import type { Counters, Tensor } from './types.ts';

/** What a profile needs of a device. */
interface ProfiledDevice {
  readonly device: GPUDevice;
  readonly counters: Counters;
  profile: Profile | null;
  flush(): void;
  buffer(bytes: number, usage: GPUBufferUsageFlags, label: string): GPUBuffer;
  free(buffer: GPUBuffer): void;
  allocating<T>(what: string, make: () => T): Promise<T>;
}

export interface Span {
  readonly name: string;
  readonly ms: number;
  readonly dispatches: number;
}

/** WebGPU allows 4096 queries in a set; a pass takes two. */
const PASSES = 2048;

export class Profile {
  readonly #gpu: ProfiledDevice;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  /** Kernel names of the passes whose timestamps are in the query set. */
  #names: string[] = [];
  /** Copies of timestamps in submissions that are not yet submitted. */
  #copied: { staging: Staging; names: readonly string[] }[] = [];
  #readings: Promise<void>[] = [];
  #spans = new Map<string, { ms: number; dispatches: number }>();

  private constructor(gpu: ProfiledDevice) {
    this.#gpu = gpu;
    this.#queries = gpu.device.createQuerySet({ type: 'timestamp', count: 2 * PASSES });
    this.#resolved = gpu.buffer(16 * PASSES, GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC, 'timestamps');
  }

  /** Refuses a device that cannot time kernels. */
  static check({ device }: Pick<ProfiledDevice, 'device'>): void {
    if (!device.features.has('timestamp-query'))
      throw refuse('this device has no timestamp-query', 'Profile on another device.');
  }

  /** Times every dispatch of this device, until `stop`. */
  static async start(gpu: ProfiledDevice): Promise<Profile> {
    Profile.check(gpu);
    const profile = await gpu.allocating('a profile', () => new Profile(gpu));
    gpu.profile = profile;
    return profile;
  }

  /** Timestamps must be resolved before another pass begins. */
  get full(): boolean {
    return this.#names.length === PASSES;
  }

  /** Begins the pass of one dispatch. */
  begin(encoder: GPUCommandEncoder, name: string): GPUComputePassEncoder {
    const at = 2 * this.#names.push(name) - 2;
    return encoder.beginComputePass({
      timestampWrites: { querySet: this.#queries, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 },
    });
  }

  /**
   * Copies the timestamps out of the query set, which is then free again; called at the end of each submission.
   * `stage` records the readback.
   */
  resolve(encoder: GPUCommandEncoder, stage: (timestamps: Tensor) => Staging): void {
    if (this.#names.length === 0) return;
    const bytes = 16 * this.#names.length;
    encoder.resolveQuerySet(this.#queries, 0, bytes / 8, this.#resolved, 0);
    const staging = stage({ buffer: this.#resolved, offset: 0, bytes, shape: [bytes / 4] });
    this.#copied.push({ staging, names: this.#names });
    this.#names = [];
  }

  /** Maps the copies; called after the submit. */
  read(): void {
    for (const { staging, names } of this.#copied) {
      this.#gpu.counters.readbacks++;
      const reading = this.#add(staging, names);
      reading.catch(() => {}); // `take` rejects with it
      this.#readings.push(reading);
    }
    this.#copied = [];
  }

  async #add(staging: Staging, names: readonly string[]): Promise<void> {
    const times = new BigUint64Array(await staging.read(16 * names.length));
    for (const [i, name] of names.entries()) {
      const span = this.#spans.get(name) ?? { ms: 0, dispatches: 0 };
      // The specification lets a driver give a later timestamp a smaller value.
      span.ms += Math.max(0, Number((times[2 * i + 1] ?? 0n) - (times[2 * i] ?? 0n)) / 1e6);
      span.dispatches++;
      this.#spans.set(name, span);
    }
  }

  /** What ran since the last call, the longest first. */
  async take(): Promise<readonly Span[]> {
    await Promise.all(this.#readings.splice(0));
    const spans = [...this.#spans].map(([name, span]) => ({ name, ...span }));
    this.#spans = new Map();
    return spans.sort((a, b) => b.ms - a.ms);
  }

  /** Submits what is recorded: its timestamps need the query set. */
  stop(): void {
    this.#gpu.flush();
    this.#gpu.profile = null;
    this.#queries.destroy();
    this.#gpu.free(this.#resolved);
  }
}
