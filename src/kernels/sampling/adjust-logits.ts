// Biases, penalties and bans on rows of logits, in place, before anything is drawn from them. What they mean and their order
// is in docs/decisions/0033-penalties.md.
import wgsl from '../../../shaders/sampling/adjust-logits.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, type Packed } from '../../gpu/struct.ts';

/** A token that may not be the next one. */
export interface LogitBanRule {
  readonly token: number;
  /** Where the text ends with these tokens; []: anywhere. */
  readonly after: readonly number[];
  /** While fewer tokens than this have been generated. */
  readonly until: number;
}

/** How the logits of a run are changed. `repetition` 1, `presence` 0 and `frequency` 0 change nothing. */
export interface LogitRules {
  /** Divides positive logits, and multiplies the others, of every token that occurs in prompt or answer. */
  readonly repetition: number;
  /** Subtracted from the logit of a token that occurs in the answer. */
  readonly presence: number;
  /** Subtracted for each time that a token occurs in the answer. */
  readonly frequency: number;
  /** Added to these tokens' logits, before the penalties. */
  readonly biases: readonly { readonly token: number; readonly bias: number }[];
  readonly bans: readonly LogitBanRule[];
}

export const adjustLogits = defineKernel({
  name: 'adjust-logits',
  wgsl,
  bindings: {
    job: 'read',
    nodes: 'read',
    tokenRing: 'read',
    counts: 'read',
    biases: 'read',
    bans: 'read',
    texts: 'read',
    logits: 'update',
  },
  /** `rows`: the most. `stride`: elements between rows of logits. */
  uniforms: { rows: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});

export const ADJUST_JOB = defineStruct('AdjustJob', {
  rows: 'u32',
  /** The node of row 0; those of the other rows follow it. */
  first: 'u32',
  /** Absolute position of node 0. */
  base: 'u32',
  /** Of the committed text: a node counts as a draft from this position on. */
  length: 'u32',
  /** Committed tokens of the answer. */
  generated: 'u32',
  /** Tokens at the end of the committed text, as `texts` begins. */
  tail: 'u32',
  counted: 'u32',
  biases: 'u32',
  bans: 'u32',
  /** 0: there is no penalty. */
  penalised: 'u32',
  repetition: 'f32',
  presence: 'f32',
  frequency: 'f32',
});

/** A token of the committed text, and how often it occurs in the answer. */
export const TOKEN_COUNT = defineStruct('TokenCount', { token: 'u32', generated: 'u32' });
export const LOGIT_BIAS = defineStruct('LogitBias', { token: 'u32', bias: 'f32' });
/** `first`, `length`: the tokens that it comes after, in `texts`. */
export const LOGIT_BAN = defineStruct('LogitBan', { token: 'u32', first: 'u32', length: 'u32', until: 'u32' });

export type AdjustJob = Packed<typeof ADJUST_JOB>;

export const isPenalised = ({ repetition, presence, frequency }: LogitRules): boolean =>
  repetition !== 1 || presence !== 0 || frequency !== 0;

/** Most tokens that a ban comes after: as many as the kernel reads of the committed text. */
export const longestBan = ({ bans }: LogitRules): number => Math.max(0, ...bans.map(({ after }) => after.length));

const NEVER_ENDS = 0xffff_ffff;

/** What the kernel reads of the rules in every pass; `texts` leaves room for the end of the committed text. */
export const packRules = (rules: LogitRules) => {
  const room = longestBan(rules);
  const words: number[] = [];
  const bans = rules.bans
    .toSorted((a, b) => a.token - b.token)
    .map(({ token, after, until }) => {
      const first = room + words.length;
      words.push(...after);
      return { token, first, length: after.length, until: Math.min(until, NEVER_ENDS) };
    });
  return {
    biases: LOGIT_BIAS.pack(rules.biases),
    bans: LOGIT_BAN.pack(bans),
    texts: Uint32Array.from([...new Array<number>(room).fill(0), ...words]),
  };
};
