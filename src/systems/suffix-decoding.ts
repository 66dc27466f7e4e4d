// SuffixDecoding (arXiv 2411.04975). Exact, and it needs no weights. It finds the longest end of the text that occurred
// before, in this text, in earlier ones of the session or in the request's document, and drafts a tree of what followed
// there, the most frequent continuations first. Beyond the paper, the size of a draft follows the measured acceptance of
// matches of that length and what rows cost on this device; a copy may reach into itself, and goes on after a changed
// token; and words are found by their letters too. Unlike the paper's suffix trees, an index of places takes memory
// linear in the text.
import { MOST_ROWS } from '../base/pass-rows.ts';
import { prefill } from '../decode/core/prefill.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { SuffixSource, suffixDrafter } from '../decode/speculative/suffix-drafter.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const knobs = {
  match: { kind: 'number', label: 'Longest match, tokens', min: 1, max: 64, step: 1, initial: 32 },
  depth: { kind: 'number', label: 'Depth of a draft, tokens', min: 1, max: 31, step: 1, initial: 15, oneDraft: 1 },
  nodes: { kind: 'number', label: 'Nodes of a draft (the anchor not counted)', min: 1, max: 63, step: 1, initial: 15 },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'suffix-decoding',
  title: 'Suffix decoding',
  summary: 'What followed the same words before, in this text or an earlier one, is proposed as a tree.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2411.04975',
  guarantee: 'exact',
  needs: ['target'],
  knobs,
  writesSteps: 'on-request',
  variants: [{ knobs: {}, drawn: false }],
  async start(run) {
    const { match, depth, nodes, 'fall-back': fallBack } = run.knobs;
    const target = await run.open('target', { nodes: Math.max(MOST_ROWS, nodes + 1) });
    const { first } = await prefill(run, target);
    const source = new SuffixSource(run, { match, depth, nodes });
    return {
      first,
      round: speculate(target, suffixDrafter(source), run, { fallBack: fallBack === 'on', drawn: false }),
    };
  },
} satisfies DecodingSystem<typeof knobs>;
