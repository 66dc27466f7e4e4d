// Rotary position embedding as numbers: inverse frequencies under each published scaling, and the cos/sin table that
// the kernels read. Everything in f64, rounded once to f32 at the end. Sources: llama3 and yarn as in transformers'
// modeling_rope_utils; YaRN, arXiv 2309.00071.

export type RopeScaling =
  | { readonly type: 'default' }
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalContext: number;
    }
  | {
      readonly type: 'yarn';
      readonly factor: number;
      readonly originalContext: number;
      /** Multiplies cos and sin, so scores grow by its square. */
      readonly attentionFactor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly truncate: boolean;
    }
  | {
      readonly type: 'longrope';
      /** `short` divides the frequencies of sequences up to this length, `long` those of longer ones: of every row. */
      readonly originalContext: number;
      /** Multiplies cos and sin at any length. */
      readonly attentionFactor: number;
      /** Null: tensors of the checkpoint. */
      readonly short: readonly number[] | null;
      readonly long: readonly number[] | null;
    };

export interface Rope {
  readonly base: number;
  /** The first so many dimensions of a head are rotated, in pairs (i, i + dimensions/2); an even number. */
  readonly dimensions: number;
  readonly scaling: RopeScaling;
}

/** How long a sequence is, where the frequencies depend on it (longrope). */
export type Span = 'short' | 'long';

/** GGUF's tensors that divide the frequencies: `all` before any scaling, as in ggml, the others as longrope's factors. */
export type RopeDivisors = Readonly<Partial<Record<Span | 'all', ArrayLike<number>>>>;

/** longrope's multiplier of cos and sin, for a context that is `factor` times the original one. */
export const longRopeScale = (factor: number, original: number): number =>
  factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));

/** YaRN's temperature: 0.1·m·ln(s) + 1. */
export const yarnScale = (factor: number, m = 1): number => (factor <= 1 ? 1 : 0.1 * m * Math.log(factor) + 1);

/** llama3: short wavelengths stay, long ones are divided by the factor, those in between are blended. */
const llama3 = (frequency: number, s: Extract<RopeScaling, { type: 'llama3' }>): number => {
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength > s.originalContext / s.lowFrequencyFactor) return frequency / s.factor;
  if (wavelength < s.originalContext / s.highFrequencyFactor) return frequency;
  const smooth =
    (s.originalContext / wavelength - s.lowFrequencyFactor) / (s.highFrequencyFactor - s.lowFrequencyFactor);
  return ((1 - smooth) * frequency) / s.factor + smooth * frequency;
};

/**
 * YaRN: a ramp over the dimensions, from those that turn `betaFast` times in the original context to those that turn
 * `betaSlow` times.
 */
const yarn = (
  frequency: number,
  i: number,
  dimensions: number,
  base: number,
  s: Extract<RopeScaling, { type: 'yarn' }>,
): number => {
  const dimensionOf = (turns: number): number =>
    (dimensions * Math.log(s.originalContext / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const round = (x: number, how: (x: number) => number): number => (s.truncate ? how(x) : x);
  const low = Math.max(round(dimensionOf(s.betaFast), Math.floor), 0);
  const high = Math.min(round(dimensionOf(s.betaSlow), Math.ceil), dimensions - 1);
  const ramp = Math.min(1, Math.max(0, (i - low) / (low === high ? 0.001 : high - low)));
  return (frequency / s.factor) * ramp + frequency * (1 - ramp);
};

/** One frequency a pair. */
export const inverseFrequencies = (
  { base, dimensions, scaling }: Rope,
  fromFile: RopeDivisors = {},
  span: Span = 'short',
): Float64Array => {
  const divisors = scaling.type === 'longrope' ? (fromFile[span] ?? scaling[span]) : fromFile.all;
  return Float64Array.from({ length: dimensions / 2 }, (_, i) => {
    const frequency = base ** ((-2 * i) / dimensions) / (divisors?.[i] ?? 1);
    switch (scaling.type) {
      case 'default':
      case 'longrope':
        return frequency;
      case 'linear':
        return frequency / scaling.factor;
      case 'llama3':
        return llama3(frequency, scaling);
      case 'yarn':
        return yarn(frequency, i, dimensions, base, scaling);
    }
  });
};

/** `[positions][dimensions / 2]` pairs (cos, sin). */
export const ropeTable = (
  rope: Rope,
  positions: number,
  fromFile: RopeDivisors = {},
  span: Span = 'short',
): Float32Array<ArrayBuffer> => {
  const frequencies = inverseFrequencies(rope, fromFile, span);
  const factor = 'attentionFactor' in rope.scaling ? rope.scaling.attentionFactor : 1;
  const half = rope.dimensions / 2;
  const table = new Float32Array(positions * rope.dimensions);
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * (frequencies[i] as number);
      table[(position * half + i) * 2] = Math.cos(angle) * factor;
      table[(position * half + i) * 2 + 1] = Math.sin(angle) * factor;
    }
  }
  return table;
};
