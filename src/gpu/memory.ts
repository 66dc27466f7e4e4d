// The one path to device memory. WebGPU refuses a buffer late: `createBuffer` returns an invalid one, and whatever uses
// it is invalid too. So buffers are made inside `allocating`, which waits for the device's answer and frees everything
// that was made with a refused one. Nothing may use a buffer before that answer; readbacks are the exception (pools.ts).
import { OutriderError } from '../base/errors.ts';

const HINT = 'Choose a smaller model or precision, or a shorter context.';

const outOfMemory = (what: string, cause: { readonly message: string }): OutriderError =>
  new OutriderError('out-of-memory', `${what}: ${cause.message.split('\n')[0]}`, HINT, { cause });

interface Kept {
  readonly size: number;
  readonly pooled: boolean;
}

export class DeviceMemory {
  /** Bytes of the buffers that were made and not freed, and the most there ever were; pooled ones are not in it. */
  bytes = 0;
  peakBytes = 0;
  /** Bytes of what lives as long as the device and serves all models: readbacks, uploads, the token ring. */
  pooledBytes = 0;
  readonly #device: GPUDevice;
  /** Of every buffer that was not freed; an invalid buffer still states the size that was asked for. */
  readonly #kept = new Map<GPUBuffer, Kept>();
  /** What the `make` that runs has made so far. */
  #making: GPUBuffer[] | null = null;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** A zeroed, counted buffer; to be called inside `allocating`. */
  buffer(bytes: number, usage: GPUBufferUsageFlags, label: string, { pooled = false } = {}): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = this.#device.createBuffer({ label, size, usage });
    this.#kept.set(buffer, { size, pooled });
    this.#making?.push(buffer);
    if (pooled) this.pooledBytes += size;
    else this.bytes += size;
    this.peakBytes = Math.max(this.peakBytes, this.bytes);
    return buffer;
  }

  /** Destroys a buffer and takes its bytes off the count. */
  free(buffer: GPUBuffer): void {
    const kept = this.#kept.get(buffer);
    if (!kept) return;
    this.#kept.delete(buffer);
    if (kept.pooled) this.pooledBytes -= kept.size;
    else this.bytes -= kept.size;
    buffer.destroy();
  }

  /** Destroys every buffer that was made here. */
  freeAll(): void {
    for (const buffer of [...this.#kept.keys()]) this.free(buffer);
  }

  /** Whether a buffer was made here and not freed since. */
  holds(buffer: GPUBuffer): boolean {
    return this.#kept.has(buffer);
  }

  /**
   * Runs `make` at once and waits for the device's answer. A refused allocation in it becomes an `out-of-memory` error
   * that names `what`; then all buffers of `make` are freed.
   */
  async allocating<T>(what: string, make: () => T): Promise<T> {
    const device = this.#device;
    device.pushErrorScope('validation'); // what `make` does with a refused buffer
    device.pushErrorScope('out-of-memory');
    const made: GPUBuffer[] = [];
    const peak = this.peakBytes;
    this.#making = made;
    let result: { readonly value: T } | { readonly thrown: unknown };
    try {
      result = { value: make() };
    } catch (thrown) {
      result = { thrown };
    }
    this.#making = null;
    const [refused, invalid] = await Promise.all([answer(device), answer(device)]);
    if (!refused && !invalid && 'value' in result) return result.value;
    for (const buffer of made) this.free(buffer);
    this.peakBytes = Math.max(peak, this.bytes); // what was refused was never there
    if (refused) throw outOfMemory(what, refused);
    if ('thrown' in result)
      throw result.thrown instanceof RangeError ? outOfMemory(what, result.thrown) : result.thrown;
    throw new OutriderError('bug', `WebGPU: ${invalid?.message}`);
  }
}

/** A lost device answers null or rejects, by browser; its loss is told elsewhere. */
const answer = (device: GPUDevice): Promise<GPUError | null> => device.popErrorScope().catch(() => null);
