// A GPUDevice with what the engine keeps on it: a cache of pipelines, counted buffers, the open submission, and the
// first error. Nothing outside this folder touches `navigator.gpu`.
/// <reference types="@webgpu/types" preserve="true" />
import { OutriderError } from '../base/errors.ts';
import { DeviceMemory } from './memory.ts';
import { StagingPool, UploadRing } from './pools.ts';
import type { Profile } from './profile.ts';
import { Submission } from './submission.ts';
import type { Counters, PipelineSource, Tensor } from './types.ts';
import { Waits } from './waits.ts';

export interface OpenOptions {
  /** `baseline` asks for no optional feature and no higher limit: what every WebGPU device has. */
  readonly features?: 'all' | 'baseline';
}

const OPTIONAL_FEATURES = ['shader-f16', 'subgroups', 'timestamp-query'] as const;
const RAISED_LIMITS = ['maxBufferSize', 'maxStorageBufferBindingSize'] as const;

/** Of an adapter that does not say what it is. */
const UNKNOWN = { vendor: '', architecture: '', device: '', description: '' } as GPUAdapterInfo;

/** Usage of activations: kernels bind them as storage, matmul also as uniform. */
export const ACTIVATION = 0x80 | 0x40 | 0x8 | 0x4; // STORAGE | UNIFORM | COPY_DST | COPY_SRC

/**
 * WebGPU's default (and usual) maxUniformBufferBindingSize. A kernel that binds activations as a uniform buffer always
 * binds so much, and so its text does not depend on their width: an activation's buffer goes on so far past its rows.
 */
export const UNIFORM_BYTES = 65536;

/** Tells the pipelines of one shader apart. */
const keyOf = ({ access, constants }: PipelineSource): string => `${access} ${JSON.stringify(constants)}`;

/** A WebGPU device with its pools of buffers, its layouts and its submission. */
export class Gpu {
  readonly device: GPUDevice;
  readonly counters: Counters = { dispatches: 0, submits: 0, readbacks: 0, readbackBytes: 0 };
  readonly memory: DeviceMemory;
  readonly info: GPUAdapterInfo;
  readonly staging: StagingPool;
  readonly uploads: UploadRing;
  readonly #waits: Waits;
  /** Not null while every dispatch is timed. */
  profile: Profile | null = null;
  /** The device's first error; every later readback rejects with it. */
  failure: OutriderError | null = null;
  /** Pipelines that were asked for, and those that are compiled. */
  readonly pipelines = { asked: 0, compiled: 0 };
  /** Called whenever one of these numbers has changed. */
  readonly onPipeline = new Set<() => void>();
  /** By shader text, because one text serves several sets of constants and two texts may share a name. */
  readonly #shaders = new Map<
    string,
    { module: GPUShaderModule; pipelines: Map<string, Promise<GPUComputePipeline>> }
  >();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  /** By what tells them apart: each cursor asks again for the same ones. */
  readonly #later = new Map<string, PipelineSource>();
  #submission: Submission | null = null;

  private constructor(device: GPUDevice, info: GPUAdapterInfo, memory: DeviceMemory, uploads: UploadRing) {
    this.device = device;
    this.info = info;
    this.memory = memory;
    this.#waits = new Waits(device.queue);
    this.staging = new StagingPool(memory, this.#waits);
    this.uploads = uploads;
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

  /** Of a device that is open already; `info`: its adapter's. Safari 26.0 has no `device.adapterInfo`. */
  static async over(device: GPUDevice, info: GPUAdapterInfo = device.adapterInfo ?? UNKNOWN): Promise<Gpu> {
    const memory = new DeviceMemory(device);
    const gpu = new Gpu(device, info, memory, await UploadRing.allocate(memory, device.queue));
    await Promise.all([gpu.staging.prepare(), gpu.#waits.measure()]);
    return gpu;
  }

  /** Whether the adapter runs on the CPU (lavapipe, SwiftShader), where barriers and gathers cost most. */
  get software(): boolean {
    return (
      this.info.isFallbackAdapter === true ||
      this.info.architecture === 'swiftshader' ||
      /llvmpipe/.test(this.info.device)
    );
  }

  /** Bytes of the buffers made by `buffer` and not freed, and the most there ever were. */
  get bytes(): number {
    return this.memory.bytes;
  }
  get peakBytes(): number {
    return this.memory.peakBytes;
  }
  set peakBytes(bytes: number) {
    this.memory.peakBytes = bytes;
  }

  /** A zeroed, counted buffer, to be made inside `allocating`: elsewhere a refused one shows as `failure`. */
  buffer(bytes: number, usage: GPUBufferUsageFlags, label: string): GPUBuffer {
    return this.memory.buffer(bytes, usage, label);
  }

  /** An f32 activation `[rows][stride]`, zeroed. */
  activation(rows: number, stride: number, label: string): Tensor {
    const bytes = rows * stride * 4;
    return {
      buffer: this.buffer(bytes + UNIFORM_BYTES, ACTIVATION, label),
      offset: 0,
      bytes: Math.ceil(bytes / 16) * 16,
      shape: [rows, stride],
    };
  }

  /** Destroys a buffer and takes its bytes off the count. */
  free(buffer: GPUBuffer): void {
    this.memory.free(buffer);
  }

  /** Runs `make` at once; a refused allocation in it becomes an `out-of-memory` error that names `what`. */
  allocating<T>(what: string, make: () => T): Promise<T> {
    return this.memory.allocating(what, make);
  }

  /** The open submission; the first use after a submit opens a new one. */
  get submission(): Submission {
    this.#submission ??= new Submission(this);
    return this.#submission;
  }

  /** Resolves when what was submitted has run; also where the device is lost, which `failure` tells. */
  idle(): Promise<void> {
    return this.#waits.for(this.device.queue.onSubmittedWorkDone().catch(() => undefined));
  }

  /** Called by a submission when it is submitted. */
  closed(submission: Submission): void {
    if (this.#submission === submission) this.#submission = null;
  }

  /** Submits the open submission, if there is one; with an argument only if it is that one. */
  flush(submission: Submission | null = this.#submission): void {
    if (submission && submission === this.#submission) submission.submit();
  }

  /** Compiles once for each shader, binding order and set of constants, without blocking the thread. */
  pipeline(source: PipelineSource): Promise<GPUComputePipeline> {
    const { name, wgsl, constants } = source;
    const shader = this.#shaders.get(wgsl) ?? {
      module: this.device.createShaderModule({ label: name, code: wgsl }),
      pipelines: new Map<string, Promise<GPUComputePipeline>>(),
    };
    this.#shaders.set(wgsl, shader);
    const key = keyOf(source);
    const known = shader.pipelines.get(key);
    if (known) return known;
    const pipeline = this.device.createComputePipelineAsync({
      label: name,
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [this.layout(source)] }),
      compute: { module: shader.module, constants: { ...constants } },
    });
    shader.pipelines.set(key, pipeline);
    this.#count('asked');
    pipeline.then(
      () => this.#count('compiled'),
      () => shader.pipelines.delete(key), // what failed for want of memory may succeed later
    );
    return pipeline;
  }

  /** The load does not wait for this one: it is compiled by `compileRest`, or when it is needed. */
  later(source: PipelineSource): void {
    this.#later.set(`${source.name} ${keyOf(source)}`, source);
  }

  /** Compiles what was put off, one pipeline after another, for as long as `still` says so. */
  async compileRest(still: () => boolean): Promise<void> {
    for (const [key, source] of this.#later) {
      if (!still()) return;
      this.#later.delete(key);
      await this.pipeline(source).catch(() => {}); // it fails again where it is needed
    }
  }

  #count(what: 'asked' | 'compiled'): void {
    this.pipelines[what]++;
    for (const listener of this.onPipeline) listener();
  }

  /** Layouts are explicit: an `auto` layout drops bindings that a variant does not read. */
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

  /** Frees what was made here, and leaves the device as it is. */
  release(): void {
    this.flush(); // commands that use a buffer must be submitted before it is destroyed
    this.memory.freeAll();
  }

  /** Destroys the device, with every buffer on it. */
  destroy(): void {
    this.device.destroy();
  }
}

/** Opens a device with all optional features that the adapter has, or with none. */
export const openGpu = async (gpu: GPU | undefined, { features = 'all' }: OpenOptions = {}): Promise<Gpu> => {
  const adapter = await gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new OutriderError(
      'no-webgpu',
      gpu ? 'WebGPU is here, but it offers no adapter' : 'there is no WebGPU here',
      'isSecureContext' in globalThis
        ? 'Use a current Chrome, Edge, Firefox or Safari; without a GPU, start Chromium with --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader.'
        : 'In Node, give createEngine({ gpu }) a device of the npm package webgpu.',
    );
  }
  const all = features === 'all';
  const device = await adapter.requestDevice({
    requiredFeatures: all ? OPTIONAL_FEATURES.filter((name) => adapter.features.has(name)) : [],
    requiredLimits: all ? Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]])) : {},
  });
  try {
    return await Gpu.over(device, adapter.info);
  } catch (error) {
    device.destroy();
    throw error;
  }
};
