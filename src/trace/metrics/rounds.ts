// Committed tokens and the rounds that committed them. Round 0, the first token, comes from the prompt's last row.
import type { EventOf, TraceEvent } from '../events.ts';
import { both, type Metric, ratio, total } from '../fold.ts';

const inRound = (event: TraceEvent): event is EventOf<'commit'> => event.type === 'commit' && event.round > 0;

export const tokens = total((e) => (e.type === 'commit' ? e.tokens.length : 0));
export const rounds = total((e) => (inRound(e) ? 1 : 0));
export const roundTokens = total((e) => (inRound(e) ? e.tokens.length : 0));
export const tokensPerRound = both(roundTokens, rounds, ratio);

/** The newest length and those before it: adding one shares the rest, so a fold over n rounds takes n steps. */
export interface Lengths {
  readonly length: number;
  readonly before: Lengths | null;
}

export const acceptanceLengths: Metric<Lengths | null, readonly number[]> = {
  start: null,
  add: (before, event) => (inRound(event) ? { length: event.tokens.length, before } : before),
  value(newest) {
    const lengths: number[] = [];
    for (let each = newest; each; each = each.before) lengths.push(each.length);
    return lengths.reverse();
  },
};
