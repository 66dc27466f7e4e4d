// Two pools that keep the decoding loop free of allocations: staging buffers for readbacks, and a ring of host data
// that submissions copy from.

/** MAP_READ buffers, reused by size (powers of two). */
export class StagingPool {
  readonly #device: GPUDevice;
  readonly #free = new Map<number, GPUBuffer[]>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  take(bytes: number): GPUBuffer {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 256)));
    return (
      this.#free.get(size)?.pop() ??
      this.#device.createBuffer({ label: 'readback', size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST })
    );
  }

  give(buffer: GPUBuffer): void {
    const list = this.#free.get(buffer.size);
    if (list) list.push(buffer);
    else this.#free.set(buffer.size, [buffer]);
  }
}

/**
 * Host data that a submission copies to its tensors. Data is overwritten when the ring has gone round once. By then its
 * submission was submitted: one uploads a few kilobytes, and writeBuffer is ordered after earlier submits.
 */
export class UploadRing {
  readonly #device: GPUDevice;
  readonly #buffer: GPUBuffer;
  #next = 0;
  static readonly #RING = 1 << 20;

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#buffer = device.createBuffer({
      label: 'uploads',
      size: UploadRing.#RING,
      usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
  }

  put(data: Uint32Array | Float32Array): { buffer: GPUBuffer; offset: number } {
    if (data.byteLength > UploadRing.#RING / 4)
      throw new Error(`an upload of ${data.byteLength} bytes does not fit the ring`);
    if (this.#next + data.byteLength > UploadRing.#RING) this.#next = 0;
    const offset = this.#next;
    this.#device.queue.writeBuffer(this.#buffer, offset, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    this.#next = Math.ceil((offset + data.byteLength) / 256) * 256;
    return { buffer: this.#buffer, offset };
  }
}
