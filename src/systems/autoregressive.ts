// Autoregressive decoding: one pass of the target writes one token. Exact by definition, and the baseline: every
// speed-up that Outrider reports is a ratio against this system, on the same kernels and in the same session.
import { drawToken, prefill } from '../decode/core/prefill.ts';
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
      async round({ sequence, round, emit }) {
        const start = performance.now();
        const pass = cursor.forward({ tokens: sequence.tokens.slice(-1), parents: [-1] });
        const commit = await drawToken(pass, 0, sequence);
        pass.accept([0]);
        const [next = -1] = commit.tokens;
        emit({
          type: 'verify',
          round,
          by: 'target',
          path: [0],
          next,
          source: 'sampled',
          ms: performance.now() - start,
        });
        return commit;
      },
    };
  },
} satisfies DecodingSystem;
