// What a run decided about drafting, in sentences: how long its blocks are, when drafting is given up and taken up again.
import type { EventOf } from '../../src/trace/index.ts';

const cost = (ms: number): string => ms.toFixed(ms < 9.95 ? 1 : 0);

const chosen = ({ size, candidates, tau, round_ms }: EventOf<'block-size'>): string => {
  if (size === 1) return 'Block size 1 chosen: plain decoding is the fastest here.';
  const at = candidates.indexOf(size);
  return `Block size ${size} chosen: ${tau[at]?.toFixed(1)} tokens expected of a round of ${cost(round_ms[at] ?? 0)} ms.`;
};

const FALLEN = 'Drafts cost more than they saved here';

const fallenBack = ({ speculative_ms: drafting, plain_ms: plain }: EventOf<'fall-back'>, token: number): string => {
  const figures = drafting !== null && plain !== null ? ` (${cost(drafting)} against ${cost(plain)} ms a token)` : '';
  return `${FALLEN}${figures}: plain decoding from token ${token}.`;
};

/** Goes on from what was said before: an attempt belongs to the fall-back that it ends. `token` counts from 1. */
export const paceSentence = (
  before: string,
  event: EventOf<'fall-back'> | EventOf<'block-size'>,
  token: number,
): string => {
  if (event.type === 'block-size') return chosen(event);
  if (event.to === 'speculation') return `${before.replace(/\.$/, ',')} drafting again from ${token}.`;
  const size = before.split(FALLEN)[0]?.trim();
  return [...(size ? [size] : []), fallenBack(event, token)].join(' ');
};
