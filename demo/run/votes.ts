// What the models of an ensemble said of every token: who proposed it, what all together made of it, and what each of them
// would have chosen alone.
import type { EventOf, Role, TokenVote } from '../../src/trace/index.ts';

/** By the order of the models in the vote: a colour (votes.css) and a letter, because colour alone says nothing to some. */
export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

export interface VotedToken {
  readonly text: string;
  /** Null: nobody drafted it, it was drawn from what they say together. */
  readonly by: Role | null;
  readonly vote: TokenVote;
}

export const votesOf = ({ tokens, pieces, by, votes }: EventOf<'commit'>): readonly VotedToken[] =>
  (votes ?? []).map((vote, i) => ({ text: pieces?.[i] ?? `${tokens[i]} `, by: by?.[i] ?? null, vote }));

/** Place of a model among the voters; -1 for nobody. */
export const memberOf = ({ by, vote }: VotedToken): number => vote.own.findIndex((own) => own.by === by);

export interface VoteBar {
  /** '' for all together. */
  readonly letter: string;
  readonly member: number | null;
  /** What it gives the committed token. */
  readonly committed: number;
  /** What it would have chosen, with its probability; null where that is the committed token. */
  readonly instead: { readonly text: string; readonly probability: number } | null;
}

export const barsOf = ({ vote: { r, own } }: VotedToken): readonly VoteBar[] => [
  { letter: '', member: null, committed: r, instead: null },
  ...own.map(({ token, text, probability, committed }, member) => ({
    letter: LETTERS[member] ?? '?',
    member,
    committed,
    // Its own choice is at least as probable to it as the committed token, and more only where they differ.
    instead: probability > committed ? { text: text ?? `${token}`, probability } : null,
  })),
];
