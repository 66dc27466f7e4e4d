// How the models of an ensemble voted on each token: which of them proposed it, its combined probability, and what each
// model would have chosen alone.
import type { EventOf, Role, TokenVote } from '../../src/trace/index.ts';

/** Each model has a colour (votes.css) and a letter, by its order in the vote: colour alone is not accessible. */
export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

/** Whether a token has room for its letter: those of two narrow neighbours would collide. */
export const hasRoomForLetter = (text: string): boolean => text.trim() !== '' && !/^[.,:;!'|]$/.test(text.trim());

export interface VotedToken {
  readonly text: string;
  /** The role that proposed it; null: it was drawn from the combined distribution. */
  readonly by: Role | null;
  readonly vote: TokenVote;
}

export const votesOf = ({ tokens, pieces, by, votes }: EventOf<'commit'>): readonly VotedToken[] =>
  (votes ?? []).map((vote, i) => ({ text: pieces?.[i] ?? `${tokens[i]} `, by: by?.[i] ?? null, vote }));

/** Index of the model that proposed the token; -1: none did. */
export const memberOf = ({ by, vote }: VotedToken): number => vote.own.findIndex((own) => own.by === by);

export interface VoteBar {
  /** '' for the combined distribution. */
  readonly letter: string;
  readonly member: number | null;
  /** Its probability of the committed token. */
  readonly committed: number;
  /** The token it prefers, with its probability; null if that is the committed token. */
  readonly instead: { readonly text: string; readonly probability: number } | null;
}

export const barsOf = ({ vote: { r, own } }: VotedToken): readonly VoteBar[] => [
  { letter: '', member: null, committed: r, instead: null },
  ...own.map(({ token, text, probability, committed }, member) => ({
    letter: LETTERS[member] ?? '?',
    member,
    committed,
    // Its preferred token is more probable than the committed one only if the two differ.
    instead: probability > committed ? { text: text ?? `${token}`, probability } : null,
  })),
];
