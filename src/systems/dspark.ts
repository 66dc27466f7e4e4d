// DSpark (arXiv 2607.05147). Exact. It is DFlash with three changes: the anchor's row drafts too, a Markov head corrects
// each row of the block by the token drafted before it, and a confidence head says how likely the target keeps a draft.
// The correction and the cut by confidence run on the device, so a round is still one submit and one readback. Cut on
// the host, the target's pass has fewer rows and a round two readbacks. Beyond the paper, the schedule's costs are
// measured on this device.
import { MOST_ROWS } from '../base/pass-rows.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { refusedFirst } from '../decode/speculative/block-drafter.ts';
import { type Cut, markovDrafter, passCosts } from '../decode/speculative/markov-drafter.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { appendTo, prefillBlocks } from '../decode/speculative/taps.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const blockSize = {
  kind: 'number',
  label: 'Block size, drafts a round',
  min: 1,
  max: 16,
  step: 1,
  initial: 7,
  oneDraft: 1,
} as const;

const cut = {
  kind: 'choice',
  label: 'Verify fewer drafts: while each is surer than the threshold, while their product is, or as many as pay',
  options: ['none', 'each', 'survival', 'schedule'],
  initial: 'none',
} as const;

const cutBy = {
  kind: 'choice',
  label: 'Choose how many on the device (one readback a round) or the host (a smaller pass, two readbacks)',
  options: ['device', 'host'],
  initial: 'device',
} as const;

const knobs = {
  'block-size': blockSize,
  cut,
  'cut-by': cutBy,
  threshold: { kind: 'number', label: 'Minimum confidence (each, survival)', min: 0, max: 1, step: 0.01, initial: 0.5 },
  draft: {
    kind: 'choice',
    label: 'Drafts at temperature > 0',
    options: ['sampled', 'greedy'],
    initial: 'sampled',
  },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'dspark',
  title: 'DSpark',
  summary: 'A block drafted in one pass is corrected from left to right, each token by the one before it.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2607.05147',
  guarantee: 'exact',
  needs: ['target', 'dspark'],
  knobs,
  writesSteps: 'on-request',
  variants: [
    { knobs: { draft: 'sampled' }, drawn: true },
    { knobs: { draft: 'greedy' }, drawn: false },
    { knobs: { draft: 'greedy', cut: 'each', threshold: 0.6, 'cut-by': 'host' }, drawn: false },
  ],
  fit: ({ dspark }) => {
    if (!dspark) return {};
    const most = `The drafter was trained for ${dspark.drafts} drafts: fewer are safe, more are not.`;
    return {
      'block-size': { ...blockSize, max: dspark.blockSize, initial: dspark.drafts, most },
      ...(dspark.confident
        ? {}
        : { cut: { ...cut, options: ['none'], others: 'This drafter has no confidence head.' } }),
    };
  },
  async start(run) {
    const { 'block-size': wanted, cut: rule, 'cut-by': cutBy, threshold, draft } = run.knobs;
    const { dspark } = run.models;
    // A block whose anchor row does not draft has one draft fewer than rows.
    const size = Math.min(wanted, dspark?.drafts ?? wanted);
    const drafter = await run.open('dspark');
    const target = await run.open('target', {
      tapLayers: dspark?.tapLayers ?? [],
      nodes: Math.max(MOST_ROWS, size + 1),
    });
    const append = appendTo(drafter);
    const { first } = await prefillBlocks(run, target, drafter, append);
    const sampled = draft === 'sampled';
    const random = sampled && run.sequence.sampling.temperature > 0;
    const cutOf = async (): Promise<Cut> => {
      if (rule === 'none') return { rule };
      if (rule === 'schedule') return { rule, costs: await passCosts(target, size, random, run) };
      return { rule, threshold };
    };
    const blocks = markovDrafter(drafter, append, { size, sampled, cut: cutOf, cutBy });
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: sampled };
    return { first, round: speculate(target, refusedFirst(blocks, run), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
