// A device whose allocations are counted, and which refuses one of them, or all beyond a limit: it is then asked for a
// buffer of the largest size, which lavapipe and SwiftShader really refuse.
import type { Gpu } from '../../gpu/device.ts';

export class RefusableMemory {
  /** Buffers that were made since the last call of `refuse`. */
  made = 0;
  /** Allocations that were refused, in all. */
  refusals = 0;
  /** Labels of buffers that were made where no error scope would tell a refusal. */
  readonly outside: string[] = [];
  /** Bytes of all buffers on the device, and the most that it gives. */
  bytes = 0;
  most = Number.POSITIVE_INFINITY;
  #refused = Number.POSITIVE_INFINITY;
  readonly #scopes: GPUErrorFilter[] = [];

  constructor({ device, memory }: Gpu) {
    this.bytes = memory.bytes + memory.pooledBytes;
    const [create, push, pop] = [device.createBuffer, device.pushErrorScope, device.popErrorScope];
    device.pushErrorScope = (filter) => {
      this.#scopes.push(filter);
      push.call(device, filter);
    };
    device.popErrorScope = () => {
      this.#scopes.pop();
      return pop.call(device);
    };
    device.createBuffer = (descriptor) => {
      if (!this.#scopes.includes('out-of-memory')) this.outside.push(descriptor.label ?? '');
      const refused = this.made++ === this.#refused || this.bytes + descriptor.size > this.most;
      const size = refused ? device.limits.maxBufferSize : descriptor.size;
      const buffer = create.call(device, { ...descriptor, size });
      if (refused) {
        this.refusals++;
        return buffer;
      }
      const { destroy } = buffer;
      let there = true;
      this.bytes += size;
      buffer.destroy = () => {
        if (there) this.bytes -= size;
        there = false;
        return destroy.call(buffer);
      };
      return buffer;
    };
  }

  /** Counts anew, and refuses the allocation of this index; none where it is left out. */
  refuse(index = Number.POSITIVE_INFINITY): void {
    this.made = 0;
    this.#refused = index;
  }
}
