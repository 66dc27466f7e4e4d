// The draft alone, in steps: the cheapest end of every comparison. Approximate. The target reads nothing.
import type { DecodingSystem } from '../decode/core/system.ts';
import { openSteps } from '../decode/steps/open-steps.ts';
import { route } from '../decode/steps/route.ts';
import { checkDelimiter } from '../decode/steps/step-boundary.ts';
import autoregressive from './autoregressive.ts';
import { limitKnobs } from './step-knobs.ts';

export default {
  id: 'draft-only',
  title: 'Draft only',
  summary: 'The draft writes every step.',
  group: 'comparison',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  remote: true,
  knobs: limitKnobs,
  check(run) {
    checkDelimiter(run);
  },
  async start(run) {
    const { draft, most } = await openSteps(run, run.knobs, autoregressive);
    return { first: null, round: route(run, { draft, most, rule: null, target: null }) };
  },
} satisfies DecodingSystem<typeof limitKnobs>;
