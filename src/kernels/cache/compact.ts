// Moves rows of a layer's cache to other slots: an accepted tree path becomes contiguous, an adopted fork joins the
// prefix. The list of moves is data, so that a plan recorded once serves every round.
import wgsl from '../../../shaders/cache/compact.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct } from '../../gpu/struct.ts';

export const compact = defineKernel({
  name: 'compact',
  wgsl,
  bindings: { keys: 'update', values: 'update', moves: 'read' },
  uniforms: { count: 'u32', keyValueHeads: 'u32', units: 'u32', words: 'u32', ring: 'u32' },
  tuning: {},
  grid: ({ keyValueHeads, units }) => [Math.ceil((keyValueHeads * units) / 64)],
});

export interface Move {
  readonly from: number;
  readonly to: number;
}

/** `from` is a reserved word of WGSL. */
export const MOVE = defineStruct('Move', { source: 'u32', to: 'u32' });

/** Ends a list of moves that is shorter than its buffer. */
export const END = 0xffff_ffff;

/** Moves that are made one after another, each finished before the next begins; with room for `count`. */
export const packMoves = (moves: readonly Move[], count: number): Uint32Array =>
  MOVE.pack(
    Array.from({ length: count }, (_, i) => {
      const { from, to } = moves[i] ?? { from: END, to: END };
      return { source: from, to };
    }),
  );
