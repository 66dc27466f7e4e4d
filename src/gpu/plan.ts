// A plan is a list of dispatches recorded once and replayed every pass: pipelines, bind groups and uniforms are made
// when it becomes ready, so a replay costs three calls a dispatch and allocates nothing.
import type { Gpu } from './device.ts';
import type { Grid, Live, PipelineSource, Tensor } from './kernel.ts';

interface Step {
  readonly source: PipelineSource;
  readonly tensors: readonly Tensor[];
  readonly words: Uint32Array;
  readonly grid: (live: Live) => Grid;
}

interface Ready {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly grid: (live: Live) => Grid;
  readonly name: string;
}

/** Uniform offsets must be multiples of this (WebGPU's default minUniformBufferOffsetAlignment). */
const UNIFORM_ALIGNMENT = 256;

export class Plan {
  readonly #gpu: Gpu;
  readonly #steps: Step[] = [];
  #pipelines: readonly GPUComputePipeline[] | null = null;
  #ready: Ready[] | null = null;
  #uniforms: GPUBuffer | null = null;

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  get length(): number {
    return this.#steps.length;
  }

  dispatch(source: PipelineSource, tensors: readonly Tensor[], words: Uint32Array, grid: (live: Live) => Grid): void {
    this.#steps.push({ source, tensors, words, grid });
  }

  /** Starts every compilation at once and resolves when all are done. Needed once, before the first replay. */
  async ready(): Promise<this> {
    await this.compiled();
    this.#ready = this.#bind();
    return this;
  }

  /** The same, for tensors whose memory is taken at the first replay. */
  async compiled(): Promise<void> {
    this.#pipelines = await Promise.all(this.#steps.map(({ source }) => this.#gpu.pipeline(source)));
  }

  #bind(): Ready[] {
    const pipelines = this.#pipelines;
    if (!pipelines) throw new Error('a plan was replayed before it was ready');
    const { device } = this.#gpu;
    const slots = this.#steps.filter(({ words }) => words.length > 0).length;
    if (slots > 0)
      this.#uniforms = this.#gpu.buffer(
        slots * UNIFORM_ALIGNMENT,
        GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
        'uniforms',
      );
    const all = new Uint32Array((slots * UNIFORM_ALIGNMENT) / 4);
    let slot = 0;
    const ready = this.#steps.map(({ source, tensors, words, grid }, i) => {
      const resources: { buffer: GPUBuffer; offset: number; size: number }[] = tensors.map(
        ({ buffer, offset, bytes }) => ({ buffer, offset, size: bytes }),
      );
      if (words.length > 0 && this.#uniforms) {
        all.set(words, (slot * UNIFORM_ALIGNMENT) / 4);
        resources.push({
          buffer: this.#uniforms,
          offset: slot++ * UNIFORM_ALIGNMENT,
          size: Math.ceil(words.length / 4) * 16,
        });
      }
      const pipeline = pipelines[i] as GPUComputePipeline;
      const group = device.createBindGroup({
        label: source.name,
        layout: this.#gpu.layout(source),
        entries: resources.map((resource, binding) => ({ binding, resource })),
      });
      return { pipeline, group, grid, name: source.name };
    });
    if (this.#uniforms) device.queue.writeBuffer(this.#uniforms, 0, all);
    return ready;
  }

  /** Replays: `passFor` gives the open pass, or (profiling) one for each kernel. */
  encode(passFor: (name: string) => GPUComputePassEncoder, live: Live): void {
    this.#ready ??= this.#bind();
    for (const { pipeline, group, grid, name } of this.#ready) {
      const [x, y, z] = grid(live);
      if (x === 0 || y === 0 || z === 0) continue;
      const pass = passFor(name);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y, z);
      this.#gpu.counters.dispatches++;
    }
  }

  destroy(): void {
    if (this.#uniforms) this.#gpu.free(this.#uniforms);
    this.#uniforms = null;
    this.#pipelines = null;
    this.#ready = null;
  }
}
