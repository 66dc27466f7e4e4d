// Speculative decoding with a draft model (Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318). Exact. A
// small model of the same vocabulary writes γ tokens one by one. The target scores them in one pass and keeps each with
// probability min(1, p/q); where it refuses one, it draws from the residual. The drafts stay on the device. Beyond the
// papers, γ may follow the measured acceptance.
import { prefill, readPrompt } from '../decode/core/prefill.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { modelDrafter } from '../decode/speculative/model-drafter.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const MOST = 15;

const knobs = {
  gamma: {
    kind: 'number',
    label: 'γ, tokens a draft (0: follows the acceptance)',
    min: 0,
    max: MOST,
    step: 1,
    initial: 0,
    oneDraft: 1,
  },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'draft-model',
  title: 'Draft model',
  summary: 'A small model writes a few tokens ahead; the target checks them all in one pass.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2211.17192',
  guarantee: 'exact',
  needs: ['target', 'draft'],
  knobs,
  writesSteps: 'on-request',
  async start(run) {
    const target = await run.open('target');
    const draft = await run.open('draft');
    await readPrompt(run, draft);
    const { first } = await prefill(run, target);
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: true };
    return { first, round: speculate(target, modelDrafter(draft, run.knobs.gamma, MOST), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
