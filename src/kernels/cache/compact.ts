// Moves rows of a layer's cache to other slots: an accepted tree path becomes contiguous, an adopted fork joins the
// prefix. The list of moves is data, so that a plan recorded once serves every round.
import wgsl from '../../../shaders/cache/compact.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const compact = defineKernel({
  name: 'compact',
  wgsl,
  bindings: { keys: 'update', values: 'update', moves: 'read' },
  uniforms: { count: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', half: 'u32' },
  tuning: {},
  grid: ({ keyValueHeads, headDim }) => [Math.ceil((keyValueHeads * headDim) / 256)],
});

export interface Move {
  readonly from: number;
  readonly to: number;
}

/** Where a list of moves ends that is not full. */
export const END = 0xffff_ffff;

/** `moves` made one after another, as if each were finished before the next begins; with room for `count`. */
export const packMoves = (moves: readonly Move[], count: number): Uint32Array => {
  const words = new Uint32Array(count * 2).fill(END);
  moves.forEach(({ from, to }, i) => {
    words.set([from, to], i * 2);
  });
  return words;
};
