// Drafts that a DFlash network makes, a whole block in one pass.
import type { BlockCursor } from '../../model/interface.ts';
import { draftSampling, greedily } from '../core/draft-sampling.ts';
import type { RunContext } from '../core/system.ts';
import { chainOf, type Drafter } from './speculate.ts';
import type { Hand } from './taps.ts';

/** A target's pass has at least so many rows for drafts: one less than its narrowest tree. */
const MOST_REFUSED = 15;

/** First the step that was refused at this place: it costs no pass, and all before its first error is right. */
export const refusedFirst = (
  drafter: Drafter,
  { refused = [], sequence }: Pick<RunContext, 'refused' | 'sequence'>,
) => {
  const place = sequence.tokens.length;
  const propose: Drafter['propose'] = (now, most) => {
    const drafts = refused.slice(0, Math.min(most, MOST_REFUSED));
    if (now.tokens.length !== place || drafts.length === 0) return drafter.propose(now, most);
    const tree = chainOf([now.tokens[place - 1] as number, ...drafts]);
    return { by: 'draft', tree, distributions: null, nodes: drafts.length + 1, passes: 0 };
  };
  return { ...drafter, propose };
};

/** Drafts blocks of one size; 1 drafts nothing. `hand` gives the cursor what was committed. */
export const blockDrafter = (cursor: BlockCursor, hand: Hand, size: number, sampled: boolean): Drafter => ({
  by: 'dflash',
  propose({ tokens, budget, sampling: targets }, most) {
    // Slots see each other, so a shorter block drafts other tokens. At an answer's end it shrinks as in the authors' loop:
    // to the budget and one more, of which only what may be committed is verified.
    const block = Math.min(size, budget + 1, cursor.capacity - cursor.length);
    const drafts = Math.min(block - 1, most);
    if (drafts < 1 || cursor.length < tokens.length - 1) return null;
    const distribution = sampled && targets.temperature > 0;
    const sampling = distribution ? draftSampling(targets) : greedily(targets);
    const anchor = tokens[tokens.length - 1] as number;
    const slots = cursor.draft(anchor, block);
    const drawn = Array.from({ length: drafts }, (_, i) => slots.draw(i + 1, sampling, { distribution }));
    return {
      tree: chainOf([anchor, ...drawn.map(({ token }) => token)]),
      distributions: distribution ? drawn.flatMap((each) => each.distribution ?? []) : null,
      nodes: drafts + 1,
      passes: 1,
    };
  },
  observe: ({ pass, path, base }) => hand(pass, path, base),
});
