// What the systems share whose drafter writes token by token from the target's features: EAGLE-3, and the MTP layer of
// the target's own checkpoint. A draft is a chain, or a tree that grows on the device; a system's file says which one
// to begin with.
import { MOST_ROWS } from '../base/pass-rows.ts';
import { refuseKnob } from '../decode/core/knobs.ts';
import { assumedCost, expectedCost } from '../decode/core/round-cost.ts';
import type { DecodingSystem, PlannedRun, RunContext, SystemFacts } from '../decode/core/system.ts';
import { FEATURE_PASS, type FeatureRole, openFeatures } from '../decode/speculative/open-features.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { fallBackKnob } from './fall-back-knob.ts';

export interface FeatureDeclaration extends Pick<SystemFacts, 'title' | 'summary' | 'paper'> {
  /** Also the role of its drafter. */
  readonly id: FeatureRole;
  readonly initial: { readonly shape: 'tree' | 'chain'; readonly depth: number };
}

const knobsOf = ({ shape, depth }: FeatureDeclaration['initial']) =>
  ({
    shape: { kind: 'choice', label: 'Shape of a draft', options: ['tree', 'chain'], initial: shape },
    nodes: { kind: 'number', label: 'Nodes of a tree (the anchor not counted)', min: 1, max: 63, step: 1, initial: 7 },
    depth: {
      kind: 'number',
      label: 'Depth, tokens (0: as many as pay)',
      min: 0,
      max: 15,
      step: 1,
      initial: depth,
      oneDraft: 1,
    },
    width: { kind: 'number', label: 'Beam of a tree', min: 1, max: 10, step: 1, initial: 3 },
    'fall-back': fallBackKnob,
  }) as const;

export const defineFeatures = ({ initial, ...facts }: FeatureDeclaration): DecodingSystem => ({
  ...facts,
  group: 'speculative',
  guarantee: 'exact',
  needs: ['target', facts.id],
  knobs: knobsOf(initial),
  writesSteps: 'on-request',
  variants: [
    { knobs: { shape: 'chain' }, drawn: true },
    { knobs: { shape: 'tree' }, drawn: false },
    { knobs: { shape: 'chain', depth: 0 }, drawn: true },
  ],
  check(untyped) {
    const { models, knobs } = untyped as unknown as PlannedRun<ReturnType<typeof knobsOf>>;
    const { shape, depth, width } = knobs;
    const deepest = models[facts.id]?.deepest(width) ?? 0;
    if (shape === 'tree' && depth > deepest)
      throw refuseKnob(
        `${facts.id}.depth is ${depth}; a tree of width ${width} has at most ${deepest} levels`,
        'Ask for less depth or width, or for shape=chain.',
      );
  },
  async start(untyped) {
    const run = untyped as unknown as RunContext<ReturnType<typeof knobsOf>>;
    const { shape, depth, width, nodes, 'fall-back': fallBack } = run.knobs;
    const drawn = shape === 'chain';
    const pass = FEATURE_PASS[facts.id];
    const options = { fallBack: fallBack === 'on', drawn, drafting: pass };
    const drafter = await openFeatures(run, facts.id);
    const rows = shape === 'tree' ? nodes + 1 : depth + 1;
    const target = await run.open('target', { tapLayers: drafter.tapLayers, nodes: Math.max(MOST_ROWS, rows) });
    const { first } = await drafter.prefill(target);
    // How many drafts are drawn decides what is drawn, so there the clock must not.
    const random = drawn && run.sequence.sampling.temperature > 0;
    const timings = options.fallBack && !random ? run.timings : null;
    const cost = random ? assumedCost(run.software, pass) : expectedCost(timings, pass);
    const drafts = drafter.drafts({ shape, depth, width, nodes, drawn, cost, places: timings?.places ?? [] });
    return { first, round: speculate(target, drafts, run, options) };
  },
});
