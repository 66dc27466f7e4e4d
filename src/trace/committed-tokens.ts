// The answer's token ids.
import type { TraceEvent } from './events.ts';

/** All committed ids after the prompt. */
export const committedTokens = (events: Iterable<TraceEvent>): number[] =>
  [...events].flatMap((event) => (event.type === 'commit' ? event.tokens : []));
