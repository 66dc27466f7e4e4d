// Two pools that keep the decoding loop free of allocations: staging buffers for readbacks, and a ring of host data
// that submissions copy from.
import { OutriderError } from '../base/errors.ts';
import type { DeviceMemory } from './memory.ts';
import type { Waits } from './waits.ts';

/** A buffer that a submission copies into and the host reads, once. */
export class Staging {
  readonly buffer: GPUBuffer;
  /** Null: the buffer has served before. */
  readonly #allocated: Promise<unknown> | null;
  readonly #pool: StagingPool;
  readonly #waits: Waits;
  #copied: Promise<GPUError | null> | null = null;

  constructor(pool: StagingPool, waits: Waits, buffer: GPUBuffer, allocated: Promise<unknown> | null) {
    this.#pool = pool;
    this.#waits = waits;
    this.buffer = buffer;
    this.#allocated = allocated;
  }

  /** The device may refuse this buffer yet, and with it every command of the command buffer that names it. */
  get tentative(): boolean {
    return this.#allocated !== null;
  }

  /** `error`: what the device says of the command buffer that fills a tentative one. */
  copied(error: Promise<GPUError | null>): void {
    this.#copied = error;
  }

  /** A copy of the first bytes, when the submission has run. Rejects where the buffer was refused or the device lost. */
  async read(bytes: number): Promise<ArrayBuffer> {
    const { buffer } = this;
    try {
      await this.#allocated;
      const invalid = await this.#copied;
      if (invalid) throw new OutriderError('bug', `WebGPU: ${invalid.message}`);
      await this.#waits.for(buffer.mapAsync(GPUMapMode.READ, 0, bytes));
    } catch (error) {
      this.#pool.drop(buffer);
      throw error;
    }
    const data = buffer.getMappedRange(0, bytes).slice(0);
    buffer.unmap();
    this.#pool.give(buffer);
    return data;
  }
}

/** Bytes of the smallest buffer: a verdict fits, and so do draws. */
const SMALLEST = 4096;
/** Readbacks of that size that may be under way before another buffer is made. */
const PREPARED = 4;

/** MAP_READ buffers, reused by size (powers of two). */
export class StagingPool {
  readonly #memory: DeviceMemory;
  readonly #waits: Waits;
  readonly #free = new Map<number, GPUBuffer[]>();

  constructor(memory: DeviceMemory, waits: Waits) {
    this.#memory = memory;
    this.#waits = waits;
  }

  /** Makes what a round reads with before the first one: a buffer that is new takes two submits of its own. */
  prepare(): Promise<void> {
    return this.#memory.allocating('the readbacks of a round', () => {
      for (let i = 0; i < PREPARED; i++) this.give(this.#buffer(SMALLEST));
    });
  }

  take(bytes: number): Staging {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, SMALLEST)));
    const known = this.#free.get(size)?.pop();
    if (known) return new Staging(this, this.#waits, known, null);
    let made = null as GPUBuffer | null;
    const allocated = this.#memory.allocating(`a readback of ${size} bytes`, () => {
      made = this.#buffer(size);
    });
    allocated.catch(() => {}); // `read` rejects with it; a readback that is never read must not count as unhandled
    if (!made)
      throw new OutriderError(
        'out-of-memory',
        `a readback of ${size} bytes was refused`,
        'Close other pages that use the GPU.',
      );
    return new Staging(this, this.#waits, made, allocated);
  }

  give(buffer: GPUBuffer): void {
    const list = this.#free.get(buffer.size);
    if (list) list.push(buffer);
    else this.#free.set(buffer.size, [buffer]);
  }

  #buffer(size: number): GPUBuffer {
    return this.#memory.buffer(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST, 'readback', { pooled: true });
  }

  drop(buffer: GPUBuffer): void {
    this.#memory.free(buffer);
  }

  /** Frees the buffers that wait to be used again, but for those that were made first. */
  trim(): void {
    for (const [size, list] of this.#free)
      for (const buffer of list.splice(size === SMALLEST ? PREPARED : 0)) this.drop(buffer);
  }
}

const RING = 1 << 20;

/**
 * Host data that a submission copies to its tensors. Data is overwritten when the ring has gone round once. By then its
 * submission was submitted: one uploads a few kilobytes, and writeBuffer is ordered after earlier submits.
 */
export class UploadRing {
  readonly #queue: GPUQueue;
  readonly #buffer: GPUBuffer;
  #next = 0;

  private constructor(queue: GPUQueue, buffer: GPUBuffer) {
    this.#queue = queue;
    this.#buffer = buffer;
  }

  static allocate(memory: DeviceMemory, queue: GPUQueue): Promise<UploadRing> {
    const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return memory.allocating(
      'the ring of uploads',
      () => new UploadRing(queue, memory.buffer(RING, usage, 'uploads', { pooled: true })),
    );
  }

  put(data: Uint32Array | Float32Array): { buffer: GPUBuffer; offset: number } {
    if (data.byteLength > RING / 4) throw new Error(`an upload of ${data.byteLength} bytes does not fit the ring`);
    if (this.#next + data.byteLength > RING) this.#next = 0;
    const offset = this.#next;
    this.#queue.writeBuffer(this.#buffer, offset, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    this.#next = Math.ceil((offset + data.byteLength) / 256) * 256;
    return { buffer: this.#buffer, offset };
  }
}
