// EAGLE-3 (arXiv 2503.01840). Exact. One layer reads the target's hidden states and the next token's embedding and
// drafts token by token, feeding its own output back: a chain, or a tree of the most probable continuations, of which
// the target keeps the longest path that it agrees with. At temperature > 0 the tokens of a chain are drawn and kept
// with probability p/q; the nodes of a tree are not drawn, so the target's own draw picks among siblings. Beyond the
// paper, a draft may be as deep as pays; on a software adapter a tree is then a chain with leaves.
import { MOST_ROWS } from '../base/pass-rows.ts';
import { refuse } from '../base/refuse.ts';
import { assumedCost, expectedCost } from '../decode/core/round-cost.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { FEATURE_PASS, openFeatures } from '../decode/speculative/open-features.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const knobs = {
  shape: { kind: 'choice', label: 'Shape of a draft', options: ['tree', 'chain'], initial: 'tree' },
  nodes: { kind: 'number', label: 'Nodes of a tree (the anchor not counted)', min: 1, max: 63, step: 1, initial: 7 },
  depth: {
    kind: 'number',
    label: 'Depth, tokens (0: as many as pay)',
    min: 0,
    max: 15,
    step: 1,
    initial: 7,
    oneDraft: 1,
  },
  width: { kind: 'number', label: 'Beam of a tree', min: 1, max: 10, step: 1, initial: 3 },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'eagle3',
  title: 'EAGLE-3',
  summary: 'One layer on the target’s own features drafts a tree of continuations; the longest accepted path is kept.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2503.01840',
  guarantee: 'exact',
  needs: ['target', 'eagle3'],
  knobs,
  writesSteps: 'on-request',
  variants: [
    { knobs: { shape: 'chain' }, drawn: true },
    { knobs: { shape: 'tree' }, drawn: false },
    { knobs: { shape: 'chain', depth: 0 }, drawn: true },
  ],
  async start(run) {
    const { shape, depth, width, nodes, 'fall-back': fallBack } = run.knobs;
    const drawn = shape === 'chain';
    const options = { fallBack: fallBack === 'on', drawn, drafting: FEATURE_PASS };
    const drafter = await openFeatures(run);
    const deepest = drafter.deepest(width);
    if (!drawn && depth > deepest)
      throw refuse(
        `eagle3.depth is ${depth}; a tree of width ${width} has at most ${deepest} levels`,
        'Ask for less depth or width, or for shape=chain.',
      );
    const rows = shape === 'tree' ? nodes + 1 : depth + 1;
    const target = await run.open('target', { tapLayers: drafter.tapLayers, nodes: Math.max(MOST_ROWS, rows) });
    const { first } = await drafter.prefill(target);
    // How many drafts are drawn decides what is drawn, so there the clock must not.
    const random = drawn && run.sequence.sampling.temperature > 0;
    const timings = options.fallBack && !random ? run.timings : null;
    const cost = random ? assumedCost(run.software, FEATURE_PASS) : expectedCost(timings, FEATURE_PASS);
    const drafts = drafter.drafts({ shape, depth, width, nodes, drawn, cost, places: timings?.places ?? [] });
    return { first, round: speculate(target, drafts, run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
