// Committed tokens and the rounds that committed them. Round 0, the first token, comes from the prompt's last row.
import type { EventOf, TraceEvent } from '../events.ts';
import { both, type Metric, ratio, total } from '../fold.ts';

const inRound = (event: TraceEvent): event is EventOf<'commit'> => event.type === 'commit' && event.round > 0;

export const tokens = total((e) => (e.type === 'commit' ? e.tokens.length : 0));
export const rounds = total((e) => (inRound(e) ? 1 : 0));
export const roundTokens = total((e) => (inRound(e) ? e.tokens.length : 0));
export const tokensPerRound = both(roundTokens, rounds, ratio);

export const acceptanceLengths: Metric<readonly number[], readonly number[]> = {
  start: [],
  add: (lengths, event) => (inRound(event) ? [...lengths, event.tokens.length] : lengths),
  value: (lengths) => lengths,
};
