// What the kernels of ensembles read and leave on the device: the job, each row's softmax statistics, where the chain
// of drafts ends, and the verdict, which is the round's readback.
import { defineStruct, listOf, type Packed } from '../../gpu/struct.ts';

/** Of a chain, the bonus counted: what the shaders set aside. */
export const MOST_POSITIONS = 64;
export const MOST_MEMBERS = 8;
/** Tokens read back in addition to the chain. */
export const MOST_PENDING = 64;
/** Of a position: the members', the contrast of all, and the draft's. */
const MOST_DISTRIBUTIONS = MOST_MEMBERS + 2;

/**
 * Every position has `distributions`: one a member; where members are contrasted also that of the row which contrasts
 * them, and that of the row which drafted, with a temperature of its own.
 */
export const ENSEMBLE_JOB = defineStruct('EnsembleJob', {
  drafts: 'u32',
  pending: 'u32',
  /** Absolute, of the first draft. */
  position: 'u32',
  seed: 'u32',
  greedy: 'u32',
  temperature: 'f32',
  topK: 'u32',
  topP: 'f32',
  minP: 'f32',
  mu: 'f32',
  /** Temperature of the draft's distribution. */
  drafting: 'f32',
  /** Of the combined distribution r, by distribution; 0 where it is none of r's terms. */
  shares: listOf('f32', MOST_DISTRIBUTIONS),
  /**
   * By position: the draft's token, its entry of the token ring plus one (0: it is the token given), the distribution
   * it was drawn from, and the row of each distribution. Then the ring entries, plus one, of the pending tokens.
   */
  entries: listOf('u32'),
});

/** With these numbers the probability of any token of a row is an exponential and a product. */
export const SOFTMAX_STATISTICS = defineStruct('SoftmaxStatistics', {
  /** The largest logit. */
  top: 'f32',
  /** Of the masses that the filters leave. */
  sum: 'f32',
  /** The key of the least logit that top-k and top-p leave (keyOf in order.wgsl). */
  lowest: 'u32',
  /** The token of the largest logit. */
  best: 'u32',
  /** 1: the row holds a NaN or +infinity. */
  broken: 'u32',
});

/** The best token of a slice of the vocabulary at one position. */
export const SLICE_BEST = defineStruct('SliceBest', { score: 'f32', token: 'u32' });

/** How many drafts stay (in sampled runs), and the best token of every slice, by position. */
export const CHAIN_END = defineStruct('ChainEnd', { kept: 'u32', spare: 'u32', slices: listOf(SLICE_BEST) });

export const ENSEMBLE_VERDICT = defineStruct('EnsembleVerdict', {
  kept: 'u32',
  /** Committed tokens. */
  count: 'u32',
  broken: 'u32',
  spare: 'u32',
  /**
   * By position: the draft, the committed token, its probability under r, and for each member its own choice and the
   * probabilities that it gives that choice and the committed token. Then the pending tokens.
   */
  words: listOf('u32'),
});

/** Words of a verdict at each position. */
const positionWords = (members: number): number => 3 + 3 * members;

export const jobBytes = (positions: number, distributions: number): number =>
  4 * (ENSEMBLE_JOB.words + positions * (3 + distributions) + MOST_PENDING);

export const statisticsBytes = (positions: number, distributions: number): number =>
  4 * positions * distributions * SOFTMAX_STATISTICS.words;

export const chainEndBytes = (positions: number, slices: number): number =>
  4 * (CHAIN_END.words + positions * slices * SLICE_BEST.words);

/** Bytes to read back of a verdict. */
export const ensembleVerdictBytes = (positions: number, members: number, pending: number): number =>
  4 * (ENSEMBLE_VERDICT.words + positions * positionWords(members) + pending);

export interface EnsembleDraft {
  /** Where `ringEntry` is 0. */
  readonly token: number;
  /** Entry of the token ring that holds the token, plus one. */
  readonly ringEntry: number;
  /** The distribution that it was drawn from. */
  readonly distribution: number;
}

export interface EnsembleJob extends Pick<Packed<typeof ENSEMBLE_JOB>, 'position' | 'shares' | 'mu' | 'drafting'> {
  readonly drafts: readonly EnsembleDraft[];
  /** For each draft, and then for a bonus if there is to be one: the row of each distribution. */
  readonly rows: readonly (readonly number[])[];
  /** Entries of the token ring, plus one. */
  readonly pending: readonly number[];
  /** temperature 0 is the argmax of r at temperature 1 without filters. */
  readonly sampling: Pick<Packed<typeof ENSEMBLE_JOB>, 'temperature' | 'topK' | 'topP' | 'minP' | 'seed'>;
}

export const packEnsembleJob = ({ drafts, rows, pending, sampling, ...job }: EnsembleJob): Uint32Array => {
  const { seed, ...filters } = sampling;
  const greedy = filters.temperature === 0;
  const positions = rows.flatMap((each, i) => {
    const { token, ringEntry, distribution } = drafts[i] ?? { token: 0, ringEntry: 0, distribution: 0 };
    return [token, ringEntry, distribution, ...each];
  });
  return ENSEMBLE_JOB.pack([
    {
      ...job,
      ...(greedy ? { temperature: 1, topK: 0, topP: 1, minP: 0, drafting: 1 } : filters),
      seed,
      greedy: Number(greedy),
      drafts: drafts.length,
      pending: pending.length,
      entries: [...positions, ...pending],
    },
  ]);
};

interface RawOpinion {
  readonly token: number;
  readonly probability: number;
  readonly committed: number;
}

export interface RawEnsembleVerdict {
  /** All drafts. */
  readonly tokens: readonly number[];
  readonly pending: readonly number[];
  /** How many drafts stay. */
  readonly kept: number;
  readonly committed: readonly number[];
  /** For each committed token. */
  readonly votes: readonly { readonly r: number; readonly own: readonly RawOpinion[] }[];
  /** Logits held a NaN or +infinity. */
  readonly broken: boolean;
}

export const unpackEnsembleVerdict = (
  data: ArrayBuffer,
  { drafts, positions, members }: { drafts: number; positions: number; members: number },
): RawEnsembleVerdict => {
  const [{ kept, count, broken, words }] = ENSEMBLE_VERDICT.unpack(data) as [Packed<typeof ENSEMBLE_VERDICT>];
  const floats = new Float32Array(data, 4 * ENSEMBLE_VERDICT.words);
  const width = positionWords(members);
  const places = Array.from({ length: positions }, (_, i) => i * width);
  const committed = places.slice(0, count);
  return {
    tokens: places.slice(0, drafts).map((at) => words[at] as number),
    pending: words.slice(positions * width),
    kept,
    committed: committed.map((at) => words[at + 1] as number),
    votes: committed.map((at) => ({
      r: floats[at + 2] as number,
      own: Array.from({ length: members }, (_, k) => ({
        token: words[at + 3 + 3 * k] as number,
        probability: floats[at + 4 + 3 * k] as number,
        committed: floats[at + 5 + 3 * k] as number,
      })),
    })),
    broken: broken !== 0,
  };
};
