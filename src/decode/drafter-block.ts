// Drafts that a DFlash network makes, a whole block in one pass.
import type { BlockCursor } from '../model/model.ts';
import { draftSampling, greedily } from './sampling.ts';
import { chainOf, type Drafter } from './speculate.ts';
import type { Hand } from './taps.ts';

/** Drafts blocks of one size; 1 drafts nothing. `hand` gives the cursor what was committed. */
export const blockDrafter = (cursor: BlockCursor, hand: Hand, size: number, sampled: boolean): Drafter => ({
  by: 'dflash',
  propose({ tokens, budget, sampling: targets }, most) {
    // Slots see each other, so a shorter block drafts other tokens. At an answer's end it shrinks as in the authors' loop:
    // to the budget and one more, of which only what may be committed is verified.
    const block = Math.min(size, budget + 1, cursor.capacity - cursor.length);
    const drafts = Math.min(block - 1, most);
    if (drafts < 1 || cursor.length < tokens.length - 1) return null;
    const law = sampled && targets.temperature > 0;
    const sampling = law ? draftSampling(targets) : greedily(targets);
    const anchor = tokens[tokens.length - 1] as number;
    const slots = cursor.draft(anchor, block);
    const drawn = Array.from({ length: drafts }, (_, i) => slots.draw(i + 1, sampling, { law }));
    return {
      tree: chainOf([anchor, ...drawn.map(({ token }) => token)]),
      laws: law ? drawn.flatMap((each) => each.law ?? []) : null,
      nodes: drafts + 1,
      passes: 1,
    };
  },
  observe: ({ pass, path, base }) => hand(pass, path, base),
});
