// What all variants of attention (attention.ts) are given.
import type { Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';

/** Keys in a chunk; a cache's capacity is a multiple of it. */
export const CHUNK = 64;

export interface Shape {
  readonly rows: number;
  readonly heads: number;
  readonly keyValueHeads: number;
}

/**
 * Pair vectors of a kv head: its (row, head) pairs in fours, one to a component of a vec4. They share each load of the
 * cache.
 */
export const pairVectorsOf = ({ rows, heads, keyValueHeads }: Shape): number =>
  Math.ceil((rows * heads) / keyValueHeads / 4);

export interface AttentionTensors {
  /** `[M][stride32(heads · headDim)]`, rotated. */
  readonly query: Tensor;
  readonly keys: Tensor;
  readonly values: Tensor;
  readonly rows: Tensor;
  /** At least `attentionScratchBytes`; nothing in it outlives the call, so layers share it. */
  readonly scratch: Tensor;
  /** `[M][stride32(heads · headDim)]`. */
  readonly output: Tensor;
}

export interface AttentionShape extends Shape {
  readonly headDim: number;
  /** Multiplies scores. */
  readonly scale: number;
  /** Scores become c·tanh(score / c) before the mask; 0 leaves them as they are. */
  readonly softCap: number;
  /** Slots in the cache, a multiple of 64. */
  readonly capacity: number;
  /** Slots that this layer keeps, a multiple of 64: slot s lies at s mod `ring`. Without a window all, `capacity`. */
  readonly ring: number;
  /** How the cache is stored: 0 f32, 1 f16, 2 q8 (cache-precision.ts). */
  readonly stored: 0 | 1 | 2;
}

/** What the kernels that score keys are given of a shape: their scores carry the factor log2(e). */
export const scoring = ({ scale, softCap, stored }: Pick<AttentionShape, 'scale' | 'softCap' | 'stored'>) => ({
  uniforms: { scale: scale * Math.LOG2E, softCap: softCap * Math.LOG2E },
  tuning: { stored, capped: softCap > 0 ? 1 : 0 },
});

/** Records the dispatches of one layer. */
export type Attention = (plan: Plan, tensors: AttentionTensors, shape: AttentionShape) => void;
