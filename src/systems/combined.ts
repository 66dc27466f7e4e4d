// Several sources of drafts in one system. Exact. Where the text repeats what was written before, a look-up drafts as in
// suffix decoding; elsewhere a DSpark or DFlash drafter does, if one is loaded. Each round takes the source that pays
// more by the acceptance and the times measured so far, or both in one tree. Drafts are never drawn at random, so the
// choice does not change what is sampled.
import { prefill } from '../decode/core/prefill.ts';
import { expectedCost } from '../decode/core/round-cost.ts';
import type { DecodingSystem, Models } from '../decode/core/system.ts';
import { refusedFirst } from '../decode/speculative/block-drafter.ts';
import { combinedDrafter, MOST_ROWS } from '../decode/speculative/combined-drafter.ts';
import { type BlockRole, openBlocks } from '../decode/speculative/open-blocks.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { SuffixSource } from '../decode/speculative/suffix-drafter.ts';
import { prefillBlocks } from '../decode/speculative/taps.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const sources = {
  kind: 'choice',
  label: 'Sources of drafts',
  options: ['suffix+drafter', 'suffix', 'drafter'],
  initial: 'suffix+drafter',
} as const;

const knobs = { sources, 'fall-back': fallBackKnob } as const;

const LOOK_UP = { match: 32, depth: 15, nodes: 15 } as const;

/** DSpark corrects its drafts from left to right, so it is asked where both are loaded. */
const drafterOf = ({ dspark, dflash }: Models): BlockRole | null => {
  if (dspark) return 'dspark';
  return dflash ? 'dflash' : null;
};

export default {
  id: 'combined',
  title: 'Combined',
  summary: 'Drafts from repeated text where there is any, else from a drafter; each is used while it pays.',
  group: 'speculative',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  uses: ['dspark', 'dflash'],
  knobs,
  writesSteps: 'on-request',
  variants: [{ knobs: {}, drawn: false }],
  async start(run) {
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: false };
    const role = run.knobs.sources === 'suffix' ? null : drafterOf(run.models);
    const opened = role && (await openBlocks(run, role));
    const drafter = opened?.ofSize(Math.min(MOST_ROWS, opened.most)) ?? null;
    const target = await run.open('target', { tapLayers: opened?.tapLayers ?? [] });
    const { first } = opened
      ? await prefillBlocks(run, target, opened.context, opened.append)
      : await prefill(run, target);
    if (drafter && run.knobs.sources === 'drafter')
      return { first, round: speculate(target, refusedFirst(drafter, run), run, options) };
    const lookup = new SuffixSource(run, LOOK_UP);
    const cost = expectedCost(options.fallBack ? run.timings : null);
    const both = combinedDrafter({ lookup, drafter, cost });
    return { first, round: speculate(target, refusedFirst(both, run), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
