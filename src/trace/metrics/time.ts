// The time of decoding and its speed.
import { both, type Metric, ratio } from '../fold.ts';
import { readsPrompt } from './prompt.ts';
import { roundTokens } from './rounds.ts';

/** Decoding lasts from the end of the prefill (with its token, if there is one) to the last commit. */
export const decodeMs: Metric<{ start: number; end: number }, number> = {
  start: { start: 0, end: 0 },
  add: (span, event) => {
    if (readsPrompt(event) || (event.type === 'commit' && event.round === 0)) return { start: event.at, end: event.at };
    return event.type === 'commit' ? { ...span, end: event.at } : span;
  },
  value: ({ start, end }) => end - start,
};

export const tokensPerSecond = both(roundTokens, decodeMs, (count, ms) => ratio(1000 * count, ms));
