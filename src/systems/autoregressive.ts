// Autoregressive decoding: one pass of the target writes one token. Exact by definition, and the baseline: every
// speed-up that Outrider reports is a ratio against this system, on the same kernels and in the same session.

import { forcedText, keepPlainRound, plainRound } from '../decode/core/plain-round.ts';
import { prefill } from '../decode/core/prefill.ts';
import type { DecodingSystem } from '../decode/core/system.ts';

export default {
  id: 'autoregressive',
  title: 'Plain decoding',
  summary: 'One pass of the target writes one token: what everything else is measured against.',
  group: 'baseline',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  knobs: {},
  writesSteps: 'by-default',
  variants: [{ knobs: {}, drawn: false }],
  async start(run) {
    const cursor = await run.open('target');
    const { first } = await prefill(run, cursor);
    return {
      first,
      async round(context) {
        const start = performance.now();
        return keepPlainRound(await plainRound(cursor, context.sequence, forcedText(context.sequence)), context, start);
      },
    };
  },
} satisfies DecodingSystem;
