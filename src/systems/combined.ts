// Several sources of drafts in one system. Exact. Where the text repeats what was written before, a look-up drafts as in
// suffix decoding; elsewhere a DSpark or DFlash drafter does, if one is loaded. Each round takes the source that pays
// more by the acceptance and the times measured so far, or both in one tree. Drafts are never drawn at random, so the
// choice does not change what is sampled.
import { measuredCost } from '../decode/core/fallback.ts';
import { prefill } from '../decode/core/prefill.ts';
import type { DecodingSystem, RunContext } from '../decode/core/system.ts';
import { blockDrafter, refusedFirst } from '../decode/speculative/block-drafter.ts';
import { combinedDrafter } from '../decode/speculative/combined-drafter.ts';
import { markovDrafter } from '../decode/speculative/markov-drafter.ts';
import { type Drafter, speculate } from '../decode/speculative/speculate.ts';
import { SuffixSource, sessionIndex } from '../decode/speculative/suffix-drafter.ts';
import { appendInOrder, prefillBlocks } from '../decode/speculative/taps.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const sources = {
  kind: 'choice',
  label: 'Sources of drafts',
  options: ['suffix+drafter', 'suffix', 'drafter'],
  initial: 'suffix+drafter',
} as const;

const knobs = { sources, 'fall-back': fallBackKnob } as const;

const LOOK_UP = { match: 32, depth: 15, nodes: 15 } as const;

type Run = RunContext<typeof knobs>;

/** The loaded drafter with its cursor, and how the prompt is read into it; null: there is none to use. */
const openDrafter = async (run: Run) => {
  const { dspark, dflash } = run.models;
  if (run.knobs.sources === 'suffix' || !(dspark ?? dflash)) return null;
  const drafter = dspark ? await run.open('dspark') : await run.open('dflash');
  const tapLayers = (dspark ?? dflash)?.tapLayers ?? [];
  const append = appendInOrder(drafter, (pass, rows) => drafter.append(pass, rows));
  const cut = async () => ({ rule: 'none' }) as const;
  const drafts: Drafter =
    'base' in drafter
      ? markovDrafter(drafter, append, {
          size: Math.min(dspark?.drafts ?? 1, 15),
          sampled: false,
          cut,
          cutBy: 'device',
        })
      : blockDrafter(drafter, append, dflash?.blockSize ?? 2, false);
  return { drafter, tapLayers, append, drafts };
};

export default {
  id: 'combined',
  title: 'Combined',
  summary: 'Look-ups draft where the text repeats itself, a drafter elsewhere: whichever pays more.',
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
    const opened = await openDrafter(run);
    const target = await run.open('target', { tapLayers: opened?.tapLayers ?? [] });
    const { first } = opened
      ? await prefillBlocks(run, target, opened.drafter, opened.append)
      : await prefill(run, target);
    if (opened && run.knobs.sources === 'drafter')
      return { first, round: speculate(target, refusedFirst(opened.drafts, run), run, options) };
    const lookup = new SuffixSource(sessionIndex(run), LOOK_UP);
    const cost = measuredCost(run.timings);
    const both = combinedDrafter({ lookup, drafter: opened?.drafts ?? null, cost });
    return { first, round: speculate(target, refusedFirst(both, run), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
