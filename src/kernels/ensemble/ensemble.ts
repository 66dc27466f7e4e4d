// A combined distribution r and the verification of a chain of drafts under it, from rows of raw logits that every member has left
// of every position. Four kernels one behind the other: `contrast` where r is made of logits, `softmaxStatistics` for each row,
// `elect` for the token that r has where the chain ends, `verifyEnsemble` for the verdict. None of them writes out a distribution:
// the largest thing they leave is the row that contrasts the others.

import chainEndText from '../../../shaders/ensemble/chain-end.wgsl?raw';
import combinedLogitsText from '../../../shaders/ensemble/combined-logits.wgsl?raw';
import contrastText from '../../../shaders/ensemble/contrast.wgsl?raw';
import statisticsText from '../../../shaders/ensemble/softmax-statistics.wgsl?raw';
import verify from '../../../shaders/ensemble/verify-ensemble.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `columns`: rows of a position: one a member; where they are contrasted one that does so, and the draft's. `stride`: of the rows. */
const uniforms = {
  positions: 'u32',
  members: 'u32',
  columns: 'u32',
  vocabulary: 'u32',
  stride: 'u32',
  slices: 'u32',
} as const;

export const contrast = defineKernel({
  name: 'contrast',
  wgsl: contrastText,
  bindings: { job: 'read', rows: 'update' },
  uniforms,
  tuning: {},
  grid: ({ vocabulary, positions }) => [Math.ceil(vocabulary / 64), positions],
});

export const softmaxStatistics = defineKernel({
  name: 'softmax-statistics',
  wgsl: statisticsText,
  bindings: { job: 'read', logits: 'read', statistics: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: ({ columns, positions }) => [columns, positions],
});

export const chainEnd = defineKernel({
  name: 'chain-end',
  wgsl: chainEndText,
  bindings: { job: 'read', logits: 'read', statistics: 'read', tokenRing: 'read', election: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: ({ slices, positions }) => [slices, positions],
});

export const verifyEnsemble = defineKernel({
  name: 'verify-ensemble',
  wgsl: verify,
  bindings: { job: 'read', logits: 'read', statistics: 'read', tokenRing: 'read', election: 'read', verdict: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: () => [1],
});

/** For those who want r written out: that of the first position. */
export const combinedLogits = defineKernel({
  name: 'combined-logits',
  wgsl: combinedLogitsText,
  bindings: { job: 'read', logits: 'read', statistics: 'read', mixed: 'write' },
  uniforms,
  tuning: {},
  grid: ({ vocabulary }) => [Math.ceil(vocabulary / 64)],
});

/** Workgroups that share the search for one token: with fewer tokens each, more of them gain nothing. */
export const slicesOf = (vocabulary: number): number => Math.min(32, Math.ceil(vocabulary / 8192));

/** Of a chain, the bonus counted: what the shaders set aside. */
export const MOST_POSITIONS = 64;
export const MOST_MEMBERS = 8;
/** Tokens read back besides the chain. */
export const MOST_PENDING = 64;

export interface EnsembleDraft {
  /** Where `ringEntry` is 0. */
  readonly token: number;
  /** Entry of the token ring that holds the token, plus one. */
  readonly ringEntry: number;
  /** Column of the distribution that it was drawn from. */
  readonly distribution: number;
}

export interface EnsembleJob {
  readonly drafts: readonly EnsembleDraft[];
  /** For each draft, and then for a bonus if there is to be one: the row of each column. */
  readonly rows: readonly (readonly number[])[];
  /** Entries of the token ring, plus one. */
  readonly pending: readonly number[];
  /** Absolute, of the first draft. */
  readonly position: number;
  /** temperature 0 is the argmax of r at temperature 1 without filters. */
  readonly sampling: {
    readonly temperature: number;
    readonly topK: number;
    readonly topP: number;
    readonly minP: number;
    readonly seed: number;
  };
  /** Of r, by column; 0 where a column is none of its terms. */
  readonly shares: readonly number[];
  /** Of the members but the first, where they are contrasted. */
  readonly mu: number;
  /** Temperature of the draft's column, where there is one. */
  readonly drafting: number;
}

const JOB_HEADER = 11 + MOST_MEMBERS + 2;

export const jobBytes = (positions: number, columns: number): number =>
  4 * (JOB_HEADER + positions * (3 + columns) + MOST_PENDING);

/** `struct Job` in the shaders. */
export const packEnsembleJob = ({
  drafts,
  rows,
  pending,
  position,
  sampling,
  shares,
  mu,
  drafting,
}: EnsembleJob): Uint32Array => {
  const { seed, temperature, topK, topP, minP } = sampling;
  const greedy = temperature === 0;
  const entries = rows.flatMap((each, i) => {
    const { token, ringEntry, distribution } = drafts[i] ?? { token: 0, ringEntry: 0, distribution: 0 };
    return [token, ringEntry, distribution, ...each];
  });
  const words = new Uint32Array(JOB_HEADER + entries.length + pending.length);
  const floats = new Float32Array(words.buffer);
  words.set([drafts.length, pending.length, position, seed, Number(greedy), 0, greedy ? 0 : topK]);
  floats[5] = greedy ? 1 : temperature;
  floats.set(greedy ? [1, 0, mu, 1] : [topP, minP, mu, drafting], 7);
  floats.set(shares, 11);
  words.set([...entries, ...pending], JOB_HEADER);
  return words;
};

/** top, sum, lowest, best and flags of a row. */
export const statisticsBytes = (positions: number, columns: number): number => positions * columns * 20;

export const electionBytes = (positions: number, slices: number): number => 8 + positions * slices * 8;

const HEADER_WORDS = 4;

/** What has to be read back of a verdict. */
export const ensembleVerdictBytes = (positions: number, members: number, pending: number): number =>
  4 * (HEADER_WORDS + positions * (3 + 3 * members) + pending);

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
  const words = new Uint32Array(data);
  const floats = new Float32Array(data);
  const width = 3 + 3 * members;
  const [kept, count, broken] = words as unknown as readonly [number, number, number];
  const entries = Array.from({ length: positions }, (_, i) => HEADER_WORDS + i * width);
  const committed = entries.slice(0, count);
  return {
    tokens: entries.slice(0, drafts).map((at) => words[at] as number),
    pending: [...words.subarray(HEADER_WORDS + positions * width)],
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
