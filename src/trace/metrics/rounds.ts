// Committed tokens and the rounds that committed them. Round 0, the first token, comes from the prompt's last row.
import type { EventOf, TraceEvent } from '../events.ts';
import { both, type Metric, ratio, total } from '../fold.ts';
import { accepted } from './drafts.ts';

const inRound = (event: TraceEvent): event is EventOf<'commit'> => event.type === 'commit' && event.round > 0;

export const tokens = total((e) => (e.type === 'commit' ? e.tokens.length : 0));
export const rounds = total((e) => (inRound(e) ? 1 : 0));
export const roundTokens = total((e) => (inRound(e) ? e.tokens.length : 0));
export const tokensPerRound = both(roundTokens, rounds, ratio);

/**
 * Tokens a round, where drafts were accepted token by token; else null. A plain run has one token a round, and rounds of
 * a step router write steps.
 */
export const acceptanceLength: Metric<
  { readonly kept: number; readonly routed: boolean; readonly rounds: typeof tokensPerRound.start },
  number | null
> = {
  start: { kept: accepted.start, routed: false, rounds: tokensPerRound.start },
  add: ({ kept, routed, rounds }, event) => ({
    kept: accepted.add(kept, event),
    routed: routed || event.type === 'route',
    rounds: tokensPerRound.add(rounds, event),
  }),
  value: ({ kept, routed, rounds }) => (kept > 0 && !routed ? tokensPerRound.value(rounds) : null),
};

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
