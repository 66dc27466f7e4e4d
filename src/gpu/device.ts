// The device as the engine sees it: pipelines cached by what they are built from, buffers that are counted, one open
// submission, and what went wrong. Nothing outside this folder touches `navigator.gpu`; the engine takes a GPUDevice.
/// <reference types="@webgpu/types" preserve="true" />
import { OutriderError } from '../base/errors.ts';
import type { PipelineSource, Tensor } from './kernel.ts';
import { StagingPool, UploadRing } from './pools.ts';
import type { Profile } from './profile.ts';
import { Submission } from './submission.ts';

export interface Counters {
  dispatches: number;
  submits: number;
  readbacks: number;
  /** That came back to the host. */
  readbackBytes: number;
}

export interface OpenOptions {
  /** `baseline` asks for no optional feature and no raised limit: what every WebGPU device has. */
  readonly features?: 'all' | 'baseline';
}

const OPTIONAL_FEATURES = ['shader-f16', 'subgroups', 'timestamp-query'] as const;
const RAISED_LIMITS = ['maxBufferSize', 'maxStorageBufferBindingSize'] as const;

/** Activations are bound as storage and, by matmul, as uniform. */
export const ACTIVATION = 0x80 | 0x40 | 0x8 | 0x4; // STORAGE | UNIFORM | COPY_DST | COPY_SRC

/** A device with what is allocated on it. */
export class Gpu {
  readonly device: GPUDevice;
  readonly counters: Counters = { dispatches: 0, submits: 0, readbacks: 0, readbackBytes: 0 };
  readonly staging: StagingPool;
  readonly uploads: UploadRing;
  /** Bytes of live buffers made through `buffer`, and the most there ever were. */
  bytes = 0;
  peakBytes = 0;
  /** Set while every dispatch is timed. */
  profile: Profile | null = null;
  /** The first thing that went wrong on the device; every readback after it rejects with it. */
  failure: OutriderError | null = null;
  /** By shader text: two variants may share a name, and one text serves several sets of constants. */
  readonly #shaders = new Map<
    string,
    { module: GPUShaderModule; pipelines: Map<string, Promise<GPUComputePipeline>> }
  >();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  #submission: Submission | null = null;

  constructor(device: GPUDevice) {
    this.device = device;
    this.staging = new StagingPool(device);
    this.uploads = new UploadRing(device);
    device.addEventListener('uncapturederror', ({ error }) => {
      const outOfMemory = error instanceof GPUOutOfMemoryError;
      this.failure ??= outOfMemory
        ? new OutriderError(
            'out-of-memory',
            `the GPU is out of memory: ${error.message}`,
            'Choose a smaller model or precision, or a shorter context.',
          )
        : new OutriderError('bug', `WebGPU: ${error.message}`);
    });
    void device.lost.then(({ reason, message }) => {
      this.failure ??= new OutriderError(
        'device-lost',
        `the GPU device was lost (${reason}): ${message}`,
        'Load the model again; if it happens again, close other GPU-heavy tabs.',
      );
    });
  }

  get info(): GPUAdapterInfo {
    return this.device.adapterInfo;
  }

  /** A CPU pretending to be a GPU (lavapipe, SwiftShader): barriers and gathers are dear there. */
  get software(): boolean {
    return (
      this.info.isFallbackAdapter === true ||
      this.info.architecture === 'swiftshader' ||
      /llvmpipe/.test(this.info.device)
    );
  }

  /** A zeroed, counted buffer. Allocation failure surfaces through `failure` and through `allocating`. */
  buffer(bytes: number, usage: GPUBufferUsageFlags, label: string): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = this.device.createBuffer({ label, size, usage });
    this.bytes += size;
    this.peakBytes = Math.max(this.peakBytes, this.bytes);
    return buffer;
  }

  /** An f32 activation `[rows][stride]`, zeroed. */
  activation(rows: number, stride: number, label: string): Tensor {
    const bytes = rows * stride * 4;
    return {
      buffer: this.buffer(bytes, ACTIVATION, label),
      offset: 0,
      bytes: Math.ceil(bytes / 16) * 16,
      shape: [rows, stride],
    };
  }

  /** Gives a buffer back. */
  free(buffer: GPUBuffer): void {
    this.bytes -= buffer.size;
    buffer.destroy();
  }

  /** Runs allocations and turns a refused one into `out-of-memory`, naming what was being made. */
  async allocating<T>(what: string, make: () => T): Promise<T> {
    this.device.pushErrorScope('out-of-memory');
    let made: T;
    try {
      made = make();
    } catch (error) {
      await this.device.popErrorScope();
      throw error;
    }
    const error = await this.device.popErrorScope();
    if (error) {
      const hint = 'Choose a smaller model or precision, or a shorter context.';
      throw new OutriderError('out-of-memory', `${what}: ${error.message}`, hint);
    }
    return made;
  }

  /** The submission that is being recorded; the first use after a submit opens a new one. */
  get submission(): Submission {
    this.#submission ??= new Submission(this);
    return this.#submission;
  }

  /** The submission was submitted: the next use opens another. */
  closed(submission: Submission): void {
    if (this.#submission === submission) this.#submission = null;
  }

  /** Submits the open submission, if there is one (and it is `submission`, where one is named). */
  flush(submission: Submission | null = this.#submission): void {
    if (submission && submission === this.#submission) submission.submit();
  }

  /** Compiled once for each shader, binding order and set of constants; never blocks the thread. */
  pipeline(source: PipelineSource): Promise<GPUComputePipeline> {
    const { name, wgsl, access, constants } = source;
    const shader = this.#shaders.get(wgsl) ?? {
      module: this.device.createShaderModule({ label: name, code: wgsl }),
      pipelines: new Map<string, Promise<GPUComputePipeline>>(),
    };
    this.#shaders.set(wgsl, shader);
    const key = `${access} ${JSON.stringify(constants)}`;
    const pipeline =
      shader.pipelines.get(key) ??
      this.device.createComputePipelineAsync({
        label: name,
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [this.layout(source)] }),
        compute: { module: shader.module, constants: { ...constants } },
      });
    shader.pipelines.set(key, pipeline);
    return pipeline;
  }

  /** Explicit layouts: an `auto` one would drop a binding that a variant does not read. */
  layout({ access, words }: PipelineSource): GPUBindGroupLayout {
    const key = `${access} ${words > 0}`;
    const known = this.#layouts.get(key);
    if (known) return known;
    const types = access.map(
      (a): GPUBufferBindingType => (a === 'read' ? 'read-only-storage' : a === 'constant' ? 'uniform' : 'storage'),
    );
    if (words > 0) types.push('uniform');
    const layout = this.device.createBindGroupLayout({
      entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
    });
    this.#layouts.set(key, layout);
    return layout;
  }

  /** Frees everything. */
  destroy(): void {
    this.device.destroy();
  }
}

/** Asks an implementation of WebGPU for a device with all the optional features it has, or with none. */
export const openGpu = async (gpu: GPU | undefined, { features = 'all' }: OpenOptions = {}): Promise<Gpu> => {
  const adapter = await gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new OutriderError(
      'no-webgpu',
      gpu ? 'WebGPU is here, but it offers no adapter' : 'this browser has no WebGPU',
      'Use a current Chrome, Edge, Firefox or Safari; without a GPU, start Chromium with --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader.',
    );
  }
  const all = features === 'all';
  const device = await adapter.requestDevice({
    requiredFeatures: all ? OPTIONAL_FEATURES.filter((name) => adapter.features.has(name)) : [],
    requiredLimits: all ? Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]])) : {},
  });
  return new Gpu(device);
};
