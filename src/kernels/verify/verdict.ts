// What verification reads and leaves on the device: a draft's nodes, the verdict on them in one stretch that is the
// round's readback, and the moves that make the kept path contiguous in the cache, which `compact` takes as they are.

/** Nodes of the largest draft, the anchor counted; `moves` has an entry for each. */
export const MOST_NODES = 64;

export interface DraftNode {
  /** Where `ringEntry` is 0. */
  readonly token: number;
  /** Entry of the token ring that holds the token, plus one. */
  readonly ringEntry: number;
  /** Of node 0: -1. Children come after their parents. */
  readonly parent: number;
  /** Entry of the drafter's distributions that it was drawn from; for `verifyRatio`. */
  readonly distribution?: number;
}

/** `struct Node` in the shaders; the last word tells of logits that held a NaN, where a kernel made the node. */
export const NODE_WORDS = 6;

/** 1 as f32, which no log-probability is: nobody says how probable a token was that is given by value. */
const UNKNOWN = 0x3f80_0000;

export const packNodes = (nodes: readonly DraftNode[]): Uint32Array =>
  Uint32Array.from(
    nodes.flatMap(({ token, ringEntry, parent, distribution = 0 }) => [
      token,
      ringEntry,
      parent,
      distribution,
      UNKNOWN,
      0,
    ]),
  );

export interface Job {
  readonly nodes: number;
  /** Entry of the token ring that holds the target's draw behind node 0; those behind the other nodes follow it. */
  readonly draws: number;
  /** Cache slot of node 0; those of the other nodes follow it. */
  readonly base: number;
  /** Absolute, of node 0. */
  readonly position: number;
  readonly seed: number;
  /** Row of the target's logits behind node 0; those behind the other nodes follow it. */
  readonly row: number;
  /** Entry of the target's distributions behind node 0; those behind the other nodes follow it. For `verifyRatio`. */
  readonly distribution?: number;
}

/** `struct Job` in the shaders. */
export const JOB_WORDS = 7;

export const packJob = ({ nodes, draws, base, position, seed, row, distribution = 0 }: Job): Uint32Array =>
  Uint32Array.of(nodes, draws, base, position, seed, row, distribution);

const HEADER_BYTES = 16;
const ENTRY_BYTES = 32;

/** Of the verdict on a draft of so many nodes: what has to be read back. */
export const verdictBytes = (nodes: number): number => HEADER_BYTES + nodes * ENTRY_BYTES;

/** At temperature 1 over the whole vocabulary. */
interface Opinions {
  readonly target: number;
  /** Null where the drafter has no distribution. */
  readonly draft: number | null;
}

export interface RawVerdict {
  /** Of the whole draft. */
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** Of every node but the anchor. */
  readonly probabilities: readonly Opinions[];
  /** The kept nodes, the anchor first. */
  readonly path: readonly number[];
  /** Behind each kept node: the next kept draft, or at the end the corrected or bonus token. */
  readonly choices: readonly { readonly token: number; readonly logit: number; readonly logSumExp: number }[];
  readonly source: 'corrected' | 'bonus';
  /** A draft or one of these choices was drawn from logits that held a NaN or +infinity. */
  readonly broken: boolean;
}

export const unpackVerdict = (data: ArrayBuffer, nodes: number): RawVerdict => {
  const words = new Uint32Array(data);
  const floats = new Float32Array(data);
  const [length, bonus, broken] = words as unknown as readonly [number, number, number];
  const entry = (i: number): number => (HEADER_BYTES + i * ENTRY_BYTES) / 4;
  const every = <T>(count: number, read: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => read(entry(i)));
  return {
    tokens: every(nodes, (at) => words[at] as number),
    parents: every(nodes, (at) => (words[at + 1] as number) | 0),
    probabilities: every(nodes, (at) => {
      const [draft, target] = [floats[at + 2] as number, floats[at + 3] as number];
      return { target: Math.exp(target), draft: draft > 0.5 ? null : Math.exp(draft) };
    }).slice(1),
    path: every(length, (at) => words[at + 4] as number),
    choices: every(length, (at) => ({
      token: words[at + 5] as number,
      logit: floats[at + 6] as number,
      logSumExp: floats[at + 7] as number,
    })),
    source: bonus ? 'bonus' : 'corrected',
    broken: broken !== 0,
  };
};
