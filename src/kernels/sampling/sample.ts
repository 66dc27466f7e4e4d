// Draws tokens from rows of logits on the device. The order of the filters is temperature, top-k, top-p, min-p.
import wgsl from '../../../shaders/sampling/sample.wgsl?raw';
import type { Gpu } from '../../gpu/device.ts';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, type Packed } from '../../gpu/struct.ts';

export const sample = defineKernel({
  name: 'sample',
  wgsl,
  bindings: { logits: 'read', draws: 'read', choices: 'write' },
  /** `rows`: number of draws. `stride`: elements between rows of logits. */
  uniforms: { rows: 'u32', vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});

/** Lanes of a draw, a power of two; on a software adapter each lane adds to the cost of every barrier. */
export const sampleTuning = ({ software }: Pick<Gpu, 'software'>): { threads: number } => ({
  threads: software ? 8 : 256,
});

const NO_DISTRIBUTION = 0xffff_ffff;

/** temperature 0 is the argmax; topK 0, topP 1 and minP 0 switch those filters off. */
export const DRAW = defineStruct(
  'Draw',
  {
    /** Of the logits. */
    row: 'u32',
    temperature: 'f32',
    topK: 'u32',
    topP: 'f32',
    minP: 'f32',
    seed: 'u32',
    /** Absolute, of the token that is drawn. */
    position: 'u32',
    /** Entry of `choices` that it is written to. */
    entry: 'u32',
    /** Entry of the distributions that its distribution is written to (distribution.ts), if it is. */
    distribution: 'u32',
  },
  { distribution: NO_DISTRIBUTION },
);

export type Draw = Packed<typeof DRAW>;

export const DRAW_WORDS = DRAW.words;

export const packDraws = (draws: readonly Draw[]): Uint32Array => DRAW.pack(draws);

export const CHOICE = defineStruct('Choice', {
  token: 'u32',
  logit: 'f32',
  /** At temperature 1 over the whole vocabulary: log-probability = logit − logSumExp. */
  logSumExp: 'f32',
  /** 1: the row held a NaN or +infinity, and the token means nothing. */
  flags: 'u32',
});

/** What the device wrote for one draw. */
export interface RawChoice {
  readonly token: number;
  readonly logit: number;
  readonly logSumExp: number;
  /** The row held a NaN or +infinity: the token means nothing. */
  readonly broken: boolean;
}

export const CHOICE_WORDS = CHOICE.words;

export const unpackChoices = (data: ArrayBuffer): RawChoice[] =>
  CHOICE.unpack(data).map(({ flags, ...choice }) => ({ ...choice, broken: flags !== 0 }));
