// The sizes of a gated delta net, and what follows from them.
export interface DeltaShape {
  readonly keyHeads: number;
  readonly keyDim: number;
  /** Value head h has the key head h div (valueHeads / keyHeads). */
  readonly valueHeads: number;
  readonly valueDim: number;
}

/** Channels of the convolution: queries, keys, values. */
export const deltaChannels = ({ keyHeads, keyDim, valueHeads, valueDim }: DeltaShape): number =>
  2 * keyHeads * keyDim + valueHeads * valueDim;

/** Floats of a slot: keys, values, decays, rates. */
export const deltaWords = ({ keyHeads, keyDim, valueHeads, valueDim }: DeltaShape): number =>
  keyHeads * keyDim + valueHeads * valueDim + 2 * valueHeads;

/** Floats of a state: `[value head][key dimension][value dimension]`. */
export const stateWords = ({ keyDim, valueHeads, valueDim }: DeltaShape): number => valueHeads * keyDim * valueDim;
