// A submission is one `queue.submit`: uploads, replayed plans, copies and readbacks, in order. All models on a device
// record into its open submission, so that a round of drafting and verifying can be one submit and one readback.
import { OutriderError } from '../base/errors.ts';
import type { Plan } from './plan.ts';
import type { StagingPool, UploadRing } from './pools.ts';
import type { Profile } from './profile.ts';
import type { Counters, Live, Tensor } from './types.ts';

/** What a submission needs of a device. */
interface SubmittingDevice {
  readonly device: GPUDevice;
  readonly counters: Counters;
  readonly staging: StagingPool;
  readonly uploads: UploadRing;
  readonly profile: Profile | null;
  readonly failure: OutriderError | null;
  closed(submission: Submission): void;
}

export class Submission {
  readonly #gpu: SubmittingDevice;
  readonly #encoder: GPUCommandEncoder;
  #pass: GPUComputePassEncoder | null = null;
  readonly #reads: {
    staging: GPUBuffer;
    bytes: number;
    resolve: (data: ArrayBuffer) => void;
    reject: (error: unknown) => void;
  }[] = [];

  constructor(gpu: SubmittingDevice) {
    this.#gpu = gpu;
    this.#encoder = gpu.device.createCommandEncoder();
  }

  /**
   * Copies host data into a tensor, in order with this submission's passes; a plain writeBuffer would come before them.
   */
  upload(target: Tensor, data: Uint32Array | Float32Array): void {
    const { buffer, offset } = this.#gpu.uploads.put(data);
    this.#endPass();
    this.#encoder.copyBufferToBuffer(buffer, offset, target.buffer, target.offset, data.byteLength);
  }

  run(plan: Plan, live: Live): void {
    const { profile } = this.#gpu;
    plan.encode((name) => {
      if (profile) this.#endPass();
      this.#pass ??= profile?.begin(this.#encoder, name) ?? this.#encoder.beginComputePass();
      return this.#pass;
    }, live);
  }

  copy(from: Tensor, to: Tensor): void {
    this.#endPass();
    this.#encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, from.bytes);
  }

  /** Resolves with a copy of the bytes when the submission has run. */
  read(source: Tensor): Promise<ArrayBuffer> {
    return this.readAll([source]);
  }

  /** The bytes of several tensors, one after the other, in one readback. */
  readAll(sources: readonly Tensor[]): Promise<ArrayBuffer> {
    this.#endPass();
    const total = sources.reduce((sum, { bytes }) => sum + bytes, 0);
    const staging = this.#gpu.staging.take(total);
    let at = 0;
    for (const { buffer, offset, bytes } of sources) {
      this.#encoder.copyBufferToBuffer(buffer, offset, staging, at, bytes);
      at += bytes;
    }
    return new Promise((resolve, reject) => {
      this.#reads.push({ staging, bytes: total, resolve, reject });
    });
  }

  submit(): void {
    this.#endPass();
    const gpu = this.#gpu;
    gpu.profile?.resolve(this.#encoder);
    gpu.device.queue.submit([this.#encoder.finish()]);
    gpu.profile?.read();
    gpu.counters.submits++;
    gpu.closed(this);
    for (const { staging, bytes, resolve, reject } of this.#reads) {
      gpu.counters.readbacks++;
      gpu.counters.readbackBytes += bytes;
      staging.mapAsync(GPUMapMode.READ, 0, bytes).then(
        () => {
          const data = staging.getMappedRange(0, bytes).slice(0);
          staging.unmap();
          gpu.staging.give(staging);
          if (gpu.failure) reject(gpu.failure);
          else resolve(data);
        },
        (cause: unknown) =>
          reject(
            gpu.failure ??
              new OutriderError(
                'device-lost',
                'the GPU device was lost during a readback',
                'Reload the model; if it happens again, close other GPU-heavy tabs.',
                { cause },
              ),
          ),
      );
    }
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = null;
  }
}
