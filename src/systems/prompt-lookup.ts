// Prompt lookup (Saxena 2023; n-gram speculation in vLLM and transformers). Exact, and it needs no weights. It finds
// where the last n tokens occurred before, in prompt or answer, and drafts what followed them there, so it is fast
// where an answer quotes its input. Beyond the original, a copy may reach into itself, as in LZ77: a repetition is
// drafted to full length. How much of it is verified follows the length of the match and what rows cost on this device.
import { prefill } from '../decode/core/prefill.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { lookupDrafter, MOST_COPIED } from '../decode/speculative/lookup-drafter.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const knobs = {
  ngram: { kind: 'number', label: 'Longest match, tokens', min: 1, max: 8, step: 1, initial: 3 },
  gamma: {
    kind: 'number',
    label: 'γ, tokens a draft (0: as many as pay)',
    min: 0,
    max: MOST_COPIED,
    step: 1,
    initial: 0,
    oneDraft: 1,
  },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'prompt-lookup',
  title: 'Prompt lookup',
  summary: 'No model drafts: what followed the same words earlier in the text is proposed again.',
  group: 'speculative',
  paper: 'https://github.com/apoorvumang/prompt-lookup-decoding',
  guarantee: 'exact',
  needs: ['target'],
  knobs,
  writesSteps: 'on-request',
  variants: [{ knobs: {}, drawn: false }],
  async start(run) {
    const target = await run.open('target');
    const { first } = await prefill(run, target);
    const { ngram, gamma } = run.knobs;
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: false };
    return { first, round: speculate(target, lookupDrafter(ngram, gamma), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
