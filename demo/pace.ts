// When drafting is given up and taken up again, in a sentence.
import type { EventOf } from '../src/trace.ts';

const cost = (ms: number): string => ms.toFixed(ms < 9.95 ? 1 : 0);

/** Extends what was said before: a new attempt belongs to the fall-back that it ends. `token` counts from 1. */
export const paceSentence = (before: string, event: EventOf<'fall-back'>, token: number): string => {
  if (event.to === 'speculation') return `${before.replace(/\.$/, ',')} drafting again from ${token}.`;
  const { speculative_ms: drafting, plain_ms: plain } = event;
  const figures = drafting !== null && plain !== null ? ` (${cost(drafting)} against ${cost(plain)} ms a token)` : '';
  return `Drafts cost more than they saved here${figures}: plain decoding from token ${token}.`;
};
