// Several sources of drafts in one system. Exact. Where the text repeats what was written before, a look-up drafts as in
// suffix decoding; elsewhere a DSpark, DFlash, EAGLE-3 or MTP drafter does, if one is loaded. Each round takes the source
// that pays more by the acceptance and the times measured so far, and drafts as much as pays. Drafts are never drawn at
// random, so none of this changes what is sampled.
import { MOST_ROWS } from '../base/pass-rows.ts';
import { prefill } from '../decode/core/prefill.ts';
import { expectedCost } from '../decode/core/round-cost.ts';
import type { Commit, DecodingSystem, RunContext } from '../decode/core/system.ts';
import type { Timings } from '../decode/core/timings.ts';
import { refusedFirst } from '../decode/speculative/block-drafter.ts';
import { combinedDrafter } from '../decode/speculative/combined-drafter.ts';
import type { Drafter } from '../decode/speculative/drafter.ts';
import { openBlocks, payingBlocks } from '../decode/speculative/open-blocks.ts';
import { FEATURE_PASS, type FeatureRole, openFeatures } from '../decode/speculative/open-features.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { SuffixSource } from '../decode/speculative/suffix-drafter.ts';
import { prefillBlocks } from '../decode/speculative/taps.ts';
import type { Cursor } from '../model/interface.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const sources = {
  kind: 'choice',
  label: 'Sources of drafts',
  options: ['suffix+drafter', 'suffix', 'drafter'],
  initial: 'suffix+drafter',
} as const;

/** The best first: DSpark corrects the drafts of a block from left to right; EAGLE-3 and MTP need a pass for each. */
const DRAFTERS = ['dspark', 'dflash', 'eagle3', 'mtp'] as const;

const drafter = { kind: 'choice', label: 'Drafter', options: DRAFTERS, initial: 'dspark' } as const;

const knobs = { sources, drafter, 'fall-back': fallBackKnob } as const;

const LOOK_UP = { match: 32, depth: 15, nodes: 15 } as const;

interface OpenDrafter {
  readonly tapLayers: readonly number[];
  readonly drafter: Drafter | null;
  prefill(target: Cursor): Promise<{ readonly first: Commit | null }>;
}

const isFeature = (role: string | null): role is FeatureRole => role === 'eagle3' || role === 'mtp';

const openDrafter = async (
  run: RunContext,
  role: (typeof DRAFTERS)[number] | null,
  timings: Timings | null,
): Promise<OpenDrafter> => {
  if (role === null) return { tapLayers: [], drafter: null, prefill: (target) => prefill(run, target) };
  if (isFeature(role)) {
    const opened = await openFeatures(run, role);
    const shape = { shape: run.software ? 'tree' : 'chain', depth: 0, width: 2, nodes: 7, drawn: false } as const;
    const cost = expectedCost(timings, FEATURE_PASS[role]);
    return { ...opened, drafter: opened.drafts({ ...shape, cost, places: timings?.places ?? [] }) };
  }
  const { tapLayers, most, ofSize, context, append } = await openBlocks(run, role);
  return {
    tapLayers,
    drafter: payingBlocks(ofSize, Math.min(MOST_ROWS, most), {
      cost: expectedCost(timings),
      places: timings?.places ?? [],
    }),
    prefill: (target) => prefillBlocks(run, target, context, append),
  };
};

export default {
  id: 'combined',
  title: 'Combined',
  summary: 'Drafts from repeated text where there is any, else from a drafter; each is used while it pays.',
  group: 'speculative',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  usesOneOf: DRAFTERS,
  knobs,
  writesSteps: 'on-request',
  variants: [
    { knobs: {}, drawn: false },
    { knobs: { drafter: 'eagle3' }, drawn: false },
  ],
  fit: (models) => {
    const loaded = DRAFTERS.filter((role) => models[role]);
    const [initial] = loaded;
    const others = 'Load a drafter under that role.';
    if (initial) return { drafter: { ...drafter, options: loaded, initial, others } };
    return { sources: { ...sources, options: sources.options.filter((each) => each !== 'drafter'), others } };
  },
  async start(run) {
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: false };
    const { sources: wanted, drafter: named } = run.knobs;
    const role = wanted !== 'suffix' && run.models[named] ? named : null;
    const timings = options.fallBack ? run.timings : null;
    const cost = expectedCost(timings, isFeature(role) ? FEATURE_PASS[role] : undefined);
    const { tapLayers, drafter, ...opened } = await openDrafter(run, role, timings);
    const target = await run.open('target', { tapLayers });
    const { first } = await opened.prefill(target);
    const lookup = new SuffixSource(run, LOOK_UP);
    const alone = drafter && wanted === 'drafter';
    const drafts = alone ? drafter : combinedDrafter({ lookup, drafter, cost });
    return { first, round: speculate(target, refusedFirst(drafts, run), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
