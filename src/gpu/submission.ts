// A submission is what goes to the queue at once: uploads, replayed plans, copies and readbacks, in order. All models on
// a device record into its open submission, so that a round of drafting and verifying can be one submit and one readback.
import { OutriderError } from '../base/errors.ts';
import type { Plan } from './plan.ts';
import type { Staging, StagingPool, UploadRing } from './pools.ts';
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
  #encoder: GPUCommandEncoder;
  /** Command buffers before the open one. A readback into a new buffer, which may be refused, has one of its own. */
  readonly #recorded: { readonly encoder: GPUCommandEncoder; readonly tentative: Staging | null }[] = [];
  #pass: GPUComputePassEncoder | null = null;
  readonly #reads: {
    staging: Staging;
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
      if (profile?.full) this.#resolve(profile);
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
    const { staging, bytes } = this.#stage(sources);
    return new Promise((resolve, reject) => {
      this.#reads.push({ staging, bytes, resolve, reject });
    });
  }

  submit(): void {
    this.#endPass();
    const gpu = this.#gpu;
    const { device, profile } = gpu;
    if (profile) this.#resolve(profile);
    for (const { encoder, tentative } of [...this.#recorded, { encoder: this.#encoder, tentative: null }]) {
      if (tentative) device.pushErrorScope('validation');
      device.queue.submit([encoder.finish()]);
      gpu.counters.submits++;
      tentative?.copied(device.popErrorScope().catch(() => null));
    }
    profile?.read();
    gpu.closed(this);
    for (const { staging, bytes, resolve, reject } of this.#reads) {
      gpu.counters.readbacks++;
      gpu.counters.readbackBytes += bytes;
      staging.read(bytes).then(
        (data) => (gpu.failure ? reject(gpu.failure) : resolve(data)),
        (cause: unknown) => reject(gpu.failure ?? (cause instanceof OutriderError ? cause : lost(cause))),
      );
    }
  }

  /** Records copies of these tensors, one after the other, for the host to read. */
  #stage(sources: readonly Tensor[]): { readonly staging: Staging; readonly bytes: number } {
    this.#endPass();
    const bytes = sources.reduce((sum, tensor) => sum + tensor.bytes, 0);
    const staging = this.#gpu.staging.take(bytes);
    if (staging.tentative) this.#begin(null);
    let at = 0;
    for (const { buffer, offset, bytes } of sources) {
      this.#encoder.copyBufferToBuffer(buffer, offset, staging.buffer, at, bytes);
      at += bytes;
    }
    if (staging.tentative) this.#begin(staging);
    return { staging, bytes };
  }

  /** Ends a command buffer and begins the next. `tentative`: what the ended one fills. */
  #begin(tentative: Staging | null): void {
    this.#recorded.push({ encoder: this.#encoder, tentative });
    this.#encoder = this.#gpu.device.createCommandEncoder();
  }

  #resolve(profile: Profile): void {
    this.#endPass();
    profile.resolve(this.#encoder, (timestamps) => this.#stage([timestamps]).staging);
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = null;
  }
}

const lost = (cause: unknown): OutriderError =>
  new OutriderError(
    'device-lost',
    'the GPU device was lost during a readback',
    'Reload the model; if it happens again, close other GPU-heavy tabs.',
    { cause },
  );
