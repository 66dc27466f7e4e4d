// The distributions of a round on the device: those that sampled drafts were drawn from, and the target's. Models of
// one vocabulary share one ring, because a target's verification reads its draft's distributions. Its memory (28 MiB
// for 151 936 tokens) is there while a model has cursors that draw drafts at random: greedy and plain runs need none.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { Arena } from '../arena.ts';
import { Ring } from './ring.ts';

/** A round's 15 drafts, the 16 rows that verify them, and entries left unused so that those 16 are neighbours. */
const ENTRIES = 48;

export class DistributionRing {
  /** `[entries][stride]`. It has no buffer before `allocate`, so plans that bind it are only compiled until then. */
  readonly tensor: Tensor;
  readonly ring = new Ring(ENTRIES, 'distribution');
  readonly #gpu: Gpu;
  /** Those that have asked for the memory and not released it. */
  readonly #holders = new Set<object>();
  readonly #arena: Arena;
  readonly #vocabulary: number;
  #memory: Tensor | null = null;
  #allocating: Promise<void> | null = null;
  #users = 0;

  private constructor(gpu: Gpu, vocabulary: number) {
    this.#gpu = gpu;
    this.#arena = new Arena(gpu);
    this.#vocabulary = vocabulary;
    const stride = stride32(vocabulary);
    const memory = (): GPUBuffer => {
      if (!this.#memory) throw new Error('the ring of distributions was bound before it was allocated');
      return this.#memory.buffer;
    };
    this.tensor = {
      get buffer() {
        return memory();
      },
      offset: 0,
      bytes: ENTRIES * stride * 4,
      shape: [ENTRIES, stride],
    };
  }

  /** Whether the memory is there, and stays until this holder lets go: its plans may bind it. */
  hasHolder(holder: object): boolean {
    return this.#memory !== null && this.#holders.has(holder);
  }

  /** Allocates the memory, unless that has happened; it stays until every holder has let go. */
  async hold(holder: object): Promise<void> {
    this.#holders.add(holder);
    if (this.#memory) return;
    this.#allocating ??= this.#gpu
      .allocating('the distributions of a round', () =>
        this.#arena.activation(ENTRIES, this.#vocabulary, 'distributions'),
      )
      .then((memory) => {
        this.#memory = memory;
      })
      .finally(() => {
        this.#allocating = null;
      });
    await this.#allocating;
  }

  /** The holder's plans must have let go of the memory. */
  letGo(holder: object): void {
    if (!this.#holders.delete(holder) || this.#holders.size > 0) return;
    this.#arena.free();
    this.#memory = null;
  }

  static readonly #rings = new WeakMap<Gpu, Map<number, DistributionRing>>();

  /** The ring of a vocabulary. It is freed when it has been released as often as it was acquired. */
  static acquire(gpu: Gpu, vocabulary: number): DistributionRing {
    const rings = DistributionRing.#rings.get(gpu) ?? new Map<number, DistributionRing>();
    DistributionRing.#rings.set(gpu, rings);
    const distributions = rings.get(vocabulary) ?? new DistributionRing(gpu, vocabulary);
    rings.set(vocabulary, distributions);
    distributions.#users++;
    return distributions;
  }

  static release(gpu: Gpu, vocabulary: number): void {
    const distributions = DistributionRing.#rings.get(gpu)?.get(vocabulary);
    if (!distributions || --distributions.#users > 0) return;
    DistributionRing.#rings.get(gpu)?.delete(vocabulary);
    distributions.#arena.free();
  }
}
