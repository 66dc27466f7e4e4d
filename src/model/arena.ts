// Buffers that are freed together: a model's weights and scratch, or a cursor's cache. A load that fails or is aborted
// frees its arena.
import { OutriderError } from '../base/errors.ts';
import { ACTIVATION, type Gpu, UNIFORM_BYTES } from '../gpu/device.ts';
import type { Tensor } from '../gpu/kernel.ts';
import { stride32 } from '../weights/quantize/device-layout.ts';

const rowBytes = (rows: number, width: number): number => rows * stride32(width) * 4;

/** Of `[rows][width padded to whole groups]` of f32, and what a binding of fixed size may read past it. */
export const activationBytes = (rows: number, width: number): number => rowBytes(rows, width) + UNIFORM_BYTES;

export class Arena {
  readonly #gpu: Gpu;
  readonly #buffers: GPUBuffer[] = [];
  bytes = 0;

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  /** Zeroed device memory that shaders read or write and the host fills. `past`: bytes after it, for uniform bindings. */
  storage(bytes: number, label: string, past = 0): Tensor {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#gpu.device.limits;
    const most = Math.min(maxBufferSize - past, maxStorageBufferBindingSize);
    if (bytes > most) throw tooLarge(label, bytes, most);
    const buffer = this.#gpu.buffer(bytes + past, ACTIVATION, label);
    this.#buffers.push(buffer);
    this.bytes += buffer.size;
    return { buffer, offset: 0, bytes: buffer.size, shape: [buffer.size / 4] };
  }

  /** `[rows][width padded to whole groups]` of f32, zeroed. */
  activation(rows: number, width: number, label: string): Tensor {
    const stride = stride32(width);
    const bytes = rowBytes(rows, width);
    const tensor = this.storage(bytes, label, UNIFORM_BYTES);
    return { ...tensor, bytes, shape: [rows, stride] };
  }

  free(): void {
    for (const buffer of this.#buffers.splice(0)) this.#gpu.free(buffer);
    this.bytes = 0;
  }
}

const tooLarge = (label: string, bytes: number, most: number): OutriderError => {
  const mib = (size: number): string => (size / 2 ** 20).toFixed(0);
  return new OutriderError(
    'out-of-memory',
    `${label} takes ${mib(bytes)} MiB; this device binds at most ${mib(most)} MiB at once`,
    'Choose a shorter context or an f16 cache; in an ensemble, fewer models or shorter drafts.',
  );
};

/** `count` rows of an activation from row `first` on. */
export const rowsOf = (tensor: Tensor, count: number, first = 0): Tensor => {
  const stride = tensor.shape.at(-1) as number;
  return { ...tensor, offset: tensor.offset + first * stride * 4, bytes: count * stride * 4, shape: [count, stride] };
};
