// What a run decided about drafting, in sentences: its block size, and when it fell back to plain decoding or drafted
// again.
import type { EventOf } from '../../src/trace/index.ts';

const cost = (ms: number): string => ms.toFixed(ms < 9.95 ? 1 : 0);

const chosen = ({ size, candidates, tau, round_ms }: EventOf<'block-size'>): string => {
  if (size === 1) return 'Block size 1 chosen: plain decoding is fastest on this device.';
  const at = candidates.indexOf(size);
  const round = `a round of ${cost(round_ms[at] ?? 0)} ms`;
  return `Block size ${size} chosen: ${tau[at]?.toFixed(1)} tokens expected from ${round}.`;
};

const FELL_BACK = 'Drafting cost more time than it saved';

const fallenBack = ({ speculative_ms: drafting, plain_ms: plain }: EventOf<'fall-back'>, token: number): string => {
  const figures = drafting !== null && plain !== null ? ` (${cost(drafting)} against ${cost(plain)} ms per token)` : '';
  return `${FELL_BACK}${figures}: plain decoding from token ${token}.`;
};

/** Extends the sentence so far: a new attempt to draft belongs to the fall-back that it ends. `token` counts from 1. */
export const draftingSentence = (
  before: string,
  event: EventOf<'fall-back'> | EventOf<'block-size'>,
  token: number,
): string => {
  if (event.type === 'block-size') return chosen(event);
  if (event.to === 'speculation') return `${before.replace(/\.$/, ',')} drafting again from token ${token}.`;
  const size = before.split(FELL_BACK)[0]?.trim();
  return [...(size ? [size] : []), fallenBack(event, token)].join(' ');
};
