// The token ring: one ring on the device into which every model's draws are written, so that a token drawn by one
// model can be the input of another before the host has seen it.
import { ACTIVATION, type Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { CHOICE_WORDS } from '../../kernels/sampling/sample.ts';
import type { Token } from '../interface.ts';
import { Ring } from './ring.ts';

/** A round takes some 150 entries at most: 64 draws of a draft, 64 of its target, and padding. */
const ENTRIES = 1024;
const ENTRY_BYTES = CHOICE_WORDS * 4;

/** How a row names its token: by value (`ringEntry` 0), or as a token ring entry + 1. */
export interface NamedToken {
  readonly token: number;
  readonly ringEntry: number;
}

export class TokenRing {
  readonly tensor: Tensor;
  readonly ring = new Ring(ENTRIES, 'device token');

  constructor(gpu: Gpu) {
    const bytes = ENTRIES * ENTRY_BYTES;
    const buffer = gpu.memory.buffer(bytes, ACTIVATION, 'token ring', { pooled: true });
    this.tensor = { buffer, offset: 0, bytes, shape: [ENTRIES, CHOICE_WORDS] };
  }

  /** Records the draw of a token that has not been recorded yet. */
  name(token: Token): NamedToken {
    return typeof token === 'number'
      ? { token, ringEntry: 0 }
      : { token: 0, ringEntry: this.ring.entry(token.record()) + 1 };
  }

  region(serial: number, count: number): Tensor {
    return this.entries(this.ring.entry(serial), count);
  }

  entries(first: number, count: number): Tensor {
    const offset = first * ENTRY_BYTES;
    return { ...this.tensor, offset, bytes: count * ENTRY_BYTES, shape: [count, CHOICE_WORDS] };
  }
}

const tokenRings = new WeakMap<Gpu, TokenRing>();

/** The one token ring of a device: allocated with the first model, and again if that allocation failed. */
export const tokenRingOf = (gpu: Gpu): TokenRing => {
  const known = tokenRings.get(gpu);
  if (known && gpu.memory.holds(known.tensor.buffer)) return known;
  const tokenRing = new TokenRing(gpu);
  tokenRings.set(gpu, tokenRing);
  return tokenRing;
};
