// DFlash: block diffusion for flash speculative decoding (arXiv 2602.06036). Exact. A small network without embedding
// or head of its own reads the target's hidden states and fills a whole block of masked positions in one pass; the
// target verifies the block as a chain. Beyond the paper, at temperature > 0 each slot may be drawn from its own
// distribution and is kept with probability p/q; the paper drafts the most probable token, which is kept with
// probability p.
import { MOST_ROWS } from '../base/pass-rows.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { blockDrafter, refusedFirst } from '../decode/speculative/block-drafter.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { appendTo, prefillBlocks } from '../decode/speculative/taps.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const blockSize = {
  kind: 'number',
  label: 'Block size (the anchor counted)',
  min: 1,
  max: 32,
  step: 1,
  initial: 16,
  oneDraft: 2,
} as const;

const draftKnob = {
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

export default {
  id: 'dflash',
  title: 'DFlash',
  summary: 'A small network reads the hidden states of the target and drafts a whole block in one pass.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2602.06036',
  guarantee: 'exact',
  needs: ['target', 'dflash'],
  knobs,
  writesSteps: 'by-default',
  variants: [
    { knobs: { 'block-size': 8, draft: 'sampled' }, drawn: true },
    { knobs: { 'block-size': 16, draft: 'greedy' }, drawn: false },
  ],
  fit: ({ dflash }) => {
    if (!dflash) return {};
    const { blockSize: trained } = dflash;
    const most = `The drafter was trained for blocks of ${trained}: smaller ones are safe, larger ones are not.`;
    return { 'block-size': { ...blockSize, max: trained, initial: trained, most } };
  },
  async start(run) {
    const { 'block-size': size, draft } = run.knobs;
    const drafter = await run.open('dflash');
    const tapLayers = run.models.dflash?.tapLayers ?? [];
    const target = await run.open('target', { tapLayers, nodes: Math.max(MOST_ROWS, size) });
    const append = appendTo(drafter);
    const { first } = await prefillBlocks(run, target, drafter, append);
    const sampled = draft === 'sampled';
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: sampled };
    const blocks = blockDrafter(drafter, append, size, sampled);
    return { first, round: speculate(target, refusedFirst(blocks, run), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
