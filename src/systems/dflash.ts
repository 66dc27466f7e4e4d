// DFlash: block diffusion for flash speculative decoding (arXiv 2602.06036). Exact. A small network without embedding or
// head of its own reads the target's hidden states and fills a whole block of masked positions in one pass; the target
// verifies the block as a chain. Beyond the paper, at temperature > 0: each slot may be drawn from its own distribution
// and kept with probability p/q; the paper drafts the most probable token and keeps it with p.
import { draftSampling, greedily } from '../decode/sampling.ts';
import { chainOf, type Drafter, fallBackKnob, speculate } from '../decode/speculate.ts';
import type { DecodingSystem } from '../decode/system.ts';
import { following, type Hand, prefillTapped } from '../decode/taps.ts';
import type { BlockCursor } from '../model/model.ts';

const blockSize = {
  kind: 'number',
  label: 'Block size (the anchor counted)',
  min: 1,
  max: 32,
  step: 1,
  initial: 16,
} as const;

export const draftKnob = {
  kind: 'choice',
  label: 'Drafts at temperature > 0',
  options: ['sampled', 'greedy'],
  initial: 'sampled',
} as const;

const knobs = {
  'block-size': blockSize,
  draft: draftKnob,
  'fall-back': fallBackKnob,
} as const;

/** Drafts blocks of one size; 1 drafts nothing. `hand` gives the cursor what was committed. */
export const blocks = (cursor: BlockCursor, hand: Hand, size: number, sampled: boolean): Drafter => ({
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

export default {
  id: 'dflash',
  title: 'DFlash',
  paper: 'https://arxiv.org/abs/2602.06036',
  guarantee: 'exact',
  needs: ['target', 'dflash'],
  knobs,
  fit: ({ dflash }) => {
    if (!dflash) return {};
    const most = `The drafter was trained for blocks of ${dflash.blockSize}: smaller ones are safe, larger ones are not.`;
    return { 'block-size': { ...blockSize, max: dflash.blockSize, initial: dflash.blockSize, most } };
  },
  async start(run) {
    const { 'block-size': size, draft } = run.knobs;
    const drafter = await run.open('dflash');
    const tapLayers = run.models.dflash?.tapLayers ?? [];
    const target = await run.open('target', { tapLayers, nodes: Math.max(16, size) });
    const hand = following(drafter, (pass, rows) => drafter.append(pass, rows));
    const { first } = await prefillTapped(run, target, drafter, hand);
    const sampled = draft === 'sampled';
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: sampled };
    return { first, round: speculate(target, blocks(drafter, hand, size, sampled), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
