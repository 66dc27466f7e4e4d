// Draws tokens from rows of logits on the device. The order of the filters is temperature, top-k, top-p, min-p.
import wgsl from '../../../shaders/sampling/sample.wgsl?raw';
import type { Gpu } from '../../gpu/device.ts';
import { defineKernel } from '../../gpu/kernel.ts';

export const sample = defineKernel({
  name: 'sample',
  wgsl,
  bindings: { logits: 'read', draws: 'read', choices: 'write' },
  /** `rows`: draws, each from a row and into an entry of its own choice. `stride`: elements between rows of logits. */
  uniforms: { rows: 'u32', vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});

/** A power of two of lanes a draw; on a CPU in disguise each lane costs its share of every barrier. */
export const sampleTuning = ({ software }: Pick<Gpu, 'software'>): { threads: number } => ({
  threads: software ? 8 : 256,
});

/** temperature 0 is the argmax; topK 0, topP 1 and minP 0 switch those filters off. */
export interface Draw {
  /** Of the logits. */
  readonly row: number;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly seed: number;
  /** Absolute, of the token that is drawn. */
  readonly position: number;
  /** Entry of `choices` that it is written to. */
  readonly entry: number;
  /** Entry of the distributions that the distribution is written to (distribution.ts), if it is. */
  readonly distribution?: number;
}

const NO_DISTRIBUTION = 0xffff_ffff;

/** `struct Draw` in the shaders. */
export const DRAW_WORDS = 9;

export const packDraws = (draws: readonly Draw[]): Uint32Array => {
  const words = new Uint32Array(draws.length * DRAW_WORDS);
  const floats = new Float32Array(words.buffer);
  draws.forEach(({ row, temperature, topK, topP, minP, seed, position, entry, distribution = NO_DISTRIBUTION }, i) => {
    const at = i * DRAW_WORDS;
    words.set([row, 0, topK, 0, 0, seed, position, entry, distribution], at);
    floats[at + 1] = temperature;
    floats[at + 3] = topP;
    floats[at + 4] = minP;
  });
  return words;
};

/** What the device wrote for one draw. */
export interface RawChoice {
  readonly token: number;
  readonly logit: number;
  /** At temperature 1 over the whole vocabulary: log-probability = logit − logSumExp. */
  readonly logSumExp: number;
  /** The row held a NaN or +infinity: the token means nothing. */
  readonly broken: boolean;
}

/** `struct Choice` in the shaders. */
export const CHOICE_WORDS = 4;

export const unpackChoices = (data: ArrayBuffer): RawChoice[] => {
  const words = new Uint32Array(data);
  const floats = new Float32Array(data);
  return Array.from({ length: words.length / CHOICE_WORDS }, (_, i) => ({
    token: words[i * CHOICE_WORDS] as number,
    logit: floats[i * CHOICE_WORDS + 1] as number,
    logSumExp: floats[i * CHOICE_WORDS + 2] as number,
    broken: words[i * CHOICE_WORDS + 3] !== 0,
  }));
};
