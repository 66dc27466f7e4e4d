// What verification reads and leaves on the device: a draft's nodes, the verdict on them in one stretch that is the
// round's readback, and the moves that make the kept path contiguous in the cache, which `compact` takes as they are.
import { defineStruct, listOf, type Packed } from '../../gpu/struct.ts';

/** Nodes of the largest draft, the anchor counted; `moves` has an entry for each. */
export const MOST_NODES = 64;

/** In place of the log-probability of a token given by value; it is more than any log-probability. */
const UNKNOWN = 1;

export const DRAFT_NODE = defineStruct(
  'DraftNode',
  {
    /** Where `ringEntry` is 0. */
    token: 'u32',
    /** Entry of the token ring that holds the token, plus one. */
    ringEntry: 'u32',
    /** Of node 0: -1. Children come after their parents. */
    parent: 'u32',
    /** Entry of the drafter's distributions that it was drawn from; for `verifyRatio`. */
    distribution: 'u32',
    /** Under the drafter, where a kernel made the node; that of a token of the ring is in the ring. */
    logprob: 'f32',
    /** 1: a kernel made the node of logits that held a NaN or +infinity. */
    flags: 'u32',
  },
  { distribution: 0, logprob: UNKNOWN, flags: 0 },
);

export type DraftNode = Packed<typeof DRAFT_NODE>;

export const NODE_WORDS = DRAFT_NODE.words;

export const packNodes = (nodes: readonly DraftNode[]): Uint32Array => DRAFT_NODE.pack(nodes);

export const VERIFY_JOB = defineStruct(
  'VerifyJob',
  {
    nodes: 'u32',
    /** Entry of the token ring with the target's draw after node 0; the draws after the other nodes follow it. */
    draws: 'u32',
    /** Cache slot of node 0; those of the other nodes follow it. */
    base: 'u32',
    /** Absolute, of node 0. */
    position: 'u32',
    seed: 'u32',
    /** Row of the target's logits after node 0; the rows after the other nodes follow it. */
    row: 'u32',
    /** Entry of the target's distributions after node 0; those after the other nodes follow it. For `verifyRatio`. */
    distribution: 'u32',
    /** Nodes that are considered, the anchor counted: those after them are left out. Last, so that it is replaced. */
    limit: 'u32',
  },
  { distribution: 0, limit: MOST_NODES },
);

export type Job = Packed<typeof VERIFY_JOB>;

export const JOB_WORDS = VERIFY_JOB.words;

export const packJob = (job: Job): Uint32Array => VERIFY_JOB.pack([job]);

/** Entry i has two subjects: node i of the draft, and the i-th kept node with the choice that follows it. */
export const VERDICT_ENTRY = defineStruct('VerdictEntry', {
  token: 'u32',
  parent: 'u32',
  /** Log-probabilities of the node under its drafter, or UNKNOWN, and under the target. */
  drafted: 'f32',
  scored: 'f32',
  /** The i-th kept node. */
  path: 'u32',
  choice: 'u32',
  logit: 'f32',
  logSumExp: 'f32',
});

export const VERDICT = defineStruct('Verdict', {
  /** Kept nodes, the anchor counted. */
  length: 'u32',
  bonus: 'u32',
  broken: 'u32',
  /** Nodes that were considered. */
  limit: 'u32',
  entries: listOf(VERDICT_ENTRY),
});

/** Bytes to read back of the verdict on a draft of so many nodes. */
export const verdictBytes = (nodes: number): number => 4 * (VERDICT.words + nodes * VERDICT_ENTRY.words);

/** Probabilities at temperature 1 over the whole vocabulary. */
interface Opinions {
  readonly target: number;
  /** Null where the drafter has no distribution. */
  readonly draft: number | null;
}

export interface RawVerdict {
  /** Of the whole draft, less what its limit leaves out. */
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** Of every node but the anchor. */
  readonly probabilities: readonly Opinions[];
  /** The kept nodes, the anchor first. */
  readonly path: readonly number[];
  /** After each kept node: the next kept draft, or at the end the corrected or bonus token. */
  readonly choices: readonly { readonly token: number; readonly logit: number; readonly logSumExp: number }[];
  readonly source: 'corrected' | 'bonus';
  /** A draft or one of these choices was drawn from logits that held a NaN or +infinity. */
  readonly broken: boolean;
}

export const unpackVerdict = (data: ArrayBuffer, nodes: number): RawVerdict => {
  const [{ length, bonus, broken, limit, entries }] = VERDICT.unpack(data) as [
    ReturnType<typeof VERDICT.unpack>[number],
  ];
  const drafts = entries.slice(0, Math.min(nodes, limit));
  const kept = entries.slice(0, length);
  return {
    tokens: drafts.map(({ token }) => token),
    parents: drafts.map(({ parent }) => parent | 0),
    probabilities: drafts.slice(1).map(({ drafted, scored }) => ({
      target: Math.exp(scored),
      draft: drafted === UNKNOWN ? null : Math.exp(drafted),
    })),
    path: kept.map(({ path }) => path),
    choices: kept.map(({ choice, logit, logSumExp }) => ({ token: choice, logit, logSumExp })),
    source: bonus ? 'bonus' : 'corrected',
    broken: broken !== 0,
  };
};
