import { distributionReference, drawReference, largest } from './sample.reference.ts';
import type { Draw } from './sample.ts';

/** The token: filters first, then the allowed ones; where both leave none, the most probable allowed one. */
export const drawAllowedReference = (
  logits: readonly number[],
  draw: Pick<Draw, 'temperature' | 'topK' | 'topP' | 'minP' | 'position' | 'seed'>,
  allows: (token: number) => boolean,
): number => {
  const masses = distributionReference(logits, draw).map((mass, token) => (allows(token) ? mass : 0));
  if (draw.temperature > 0 && masses.some((mass) => mass > 0)) return drawReference(masses, draw.position, draw.seed);
  const possible = logits.map((logit, token) => (allows(token) ? logit : -Infinity));
  return possible.indexOf(largest(possible));
};
