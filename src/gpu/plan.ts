// A plan is a list of dispatches, recorded once and replayed in every pass. It makes its pipelines and uniforms when it
// becomes ready, and its bind groups in the first replay: there is a plan for each size of pass, and a run has few of
// them. Later replays cost three calls a dispatch and allocate nothing.
import type { Counters, Grid, Live, PipelineSource, Recorder, Tensor } from './types.ts';

/** What a plan needs of a device. */
interface PlanDevice {
  readonly device: GPUDevice;
  readonly counters: Counters;
  buffer(bytes: number, usage: GPUBufferUsageFlags, label: string): GPUBuffer;
  free(buffer: GPUBuffer): void;
  allocating<T>(what: string, make: () => T): Promise<T>;
  pipeline(source: PipelineSource): Promise<GPUComputePipeline>;
  later(source: PipelineSource): void;
  layout(source: PipelineSource): GPUBindGroupLayout;
}

interface Step {
  readonly source: PipelineSource;
  readonly tensors: readonly Tensor[];
  readonly words: Uint32Array;
  readonly grid: (live: Live) => Grid;
}

interface Ready {
  readonly pipeline: GPUComputePipeline;
  readonly bound: GPUBindGroupDescriptor;
  group: GPUBindGroup | null;
  readonly grid: (live: Live) => Grid;
  readonly name: string;
}

/** Uniform offsets must be multiples of this (WebGPU's default minUniformBufferOffsetAlignment). */
const UNIFORM_ALIGNMENT = 256;

export class Plan implements Recorder {
  readonly #gpu: PlanDevice;
  readonly #steps: Step[] = [];
  #pipelines: readonly GPUComputePipeline[] | null = null;
  #ready: Ready[] | null = null;
  #uniforms: GPUBuffer | null = null;
  #binding: Promise<void> | null = null;
  #destroyed = false;

  constructor(gpu: PlanDevice) {
    this.#gpu = gpu;
  }

  get length(): number {
    return this.#steps.length;
  }

  dispatch(source: PipelineSource, tensors: readonly Tensor[], words: Uint32Array, grid: (live: Live) => Grid): void {
    this.#steps.push({ source, tensors, words, grid });
  }

  /** Its pipelines may be compiled when the device is idle. */
  later(): void {
    for (const { source } of this.#steps) this.#gpu.later(source);
  }

  /** Compiles all pipelines at once and binds the tensors. Needed once, before the first replay. */
  async ready(): Promise<this> {
    this.#binding ??= this.#makeReady();
    try {
      await this.#binding;
    } catch (error) {
      this.#binding = null;
      throw error;
    }
    return this;
  }

  async #makeReady(): Promise<void> {
    this.#pipelines = await Promise.all(this.#steps.map(({ source }) => this.#gpu.pipeline(source)));
    if (this.#destroyed) return;
    const ready = await this.#gpu.allocating('uniforms', () => this.#bind());
    if (this.#destroyed) this.destroy();
    else this.#ready = ready;
  }

  #bind(): Ready[] {
    const pipelines = this.#pipelines ?? [];
    const { device } = this.#gpu;
    const structs = this.#steps.filter(({ words }) => words.length > 0).length;
    if (structs > 0)
      this.#uniforms = this.#gpu.buffer(
        structs * UNIFORM_ALIGNMENT,
        GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
        'uniforms',
      );
    const all = new Uint32Array((structs * UNIFORM_ALIGNMENT) / 4);
    let next = 0;
    const ready = this.#steps.map(({ source, tensors, words, grid }, i) => {
      const resources: { buffer: GPUBuffer; offset: number; size: number }[] = tensors.map(
        ({ buffer, offset, bytes }) => ({ buffer, offset, size: bytes }),
      );
      if (words.length > 0 && this.#uniforms) {
        all.set(words, (next * UNIFORM_ALIGNMENT) / 4);
        resources.push({
          buffer: this.#uniforms,
          offset: next++ * UNIFORM_ALIGNMENT,
          size: Math.ceil(words.length / 4) * 16,
        });
      }
      const pipeline = pipelines[i] as GPUComputePipeline;
      const bound = {
        label: source.name,
        layout: this.#gpu.layout(source),
        entries: resources.map((resource, binding) => ({ binding, resource })),
      };
      return { pipeline, bound, group: null, grid, name: source.name };
    });
    if (this.#uniforms) device.queue.writeBuffer(this.#uniforms, 0, all);
    return ready;
  }

  /** Replays the dispatches; `passFor` gives the open pass or, in a profile, one for each kernel. */
  encode(passFor: (name: string) => GPUComputePassEncoder, live: Live): void {
    if (!this.#ready) throw new Error('a plan was replayed before it was ready');
    for (const step of this.#ready) {
      const [x, y, z] = step.grid(live);
      if (x === 0 || y === 0 || z === 0) continue;
      const pass = passFor(step.name);
      step.group ??= this.#gpu.device.createBindGroup(step.bound);
      pass.setPipeline(step.pipeline);
      pass.setBindGroup(0, step.group);
      pass.dispatchWorkgroups(x, y, z);
      this.#gpu.counters.dispatches++;
    }
  }

  /** Lets go of the tensors, whose memory may then be freed; `ready` binds them again. */
  unbind(): void {
    if (this.#uniforms) this.#gpu.free(this.#uniforms);
    this.#uniforms = null;
    this.#ready = null;
    this.#binding = null;
  }

  destroy(): void {
    this.#destroyed = true;
    this.#pipelines = null;
    this.unbind();
  }
}
