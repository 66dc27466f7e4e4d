// Drafts of a DFlash network: a whole block in one pass.
import type { BlockCursor } from '../../model/interface.ts';
import { chainOf } from '../core/chain.ts';
import { greedySampling } from '../core/draft-sampling.ts';
import type { RunContext } from '../core/system.ts';
import type { Drafter } from './drafter.ts';
import type { AppendRows } from './taps.ts';

/** Every pass of the target has room for so many drafts: one less than the rows of its narrowest tree. */
const MOST_REFUSED = 15;

/** Proposes a refused step first: it costs no pass, and everything before its first error is kept. */
export const refusedFirst = (
  drafter: Drafter,
  { refused = [], sequence }: Pick<RunContext, 'refused' | 'sequence'>,
) => {
  const place = sequence.tokens.length;
  const propose: Drafter['propose'] = (now, most, may) => {
    const drafts = refused.slice(0, Math.min(most, MOST_REFUSED));
    if (now.tokens.length !== place || drafts.length === 0) return drafter.propose(now, most, may);
    const tree = chainOf([now.tokens[place - 1] as number, ...drafts]);
    return { by: 'draft', tree, distributions: null, nodes: drafts.length + 1, passes: 0 };
  };
  return { ...drafter, propose };
};

/** Drafts blocks of one size; size 1 drafts nothing. `append` gives the cursor the rows that were committed. */
export const blockDrafter = (cursor: BlockCursor, append: AppendRows, size: number, sampled: boolean): Drafter => ({
  by: 'dflash',
  propose({ tokens, budget, drafting }, most) {
    // Slots see each other, so a shorter block drafts other tokens. At an answer's end it shrinks as in the authors'
    // loop: to the budget and one more, of which only what may be committed is verified.
    const block = Math.min(size, budget + 1, cursor.capacity - cursor.length);
    const drafts = Math.min(block - 1, most);
    if (drafts < 1 || cursor.length < tokens.length - 1) return null;
    const distribution = sampled && drafting.temperature > 0;
    const sampling = distribution ? drafting : greedySampling(drafting);
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
  observe: ({ pass, path, base }) => append(pass, path, base),
});
