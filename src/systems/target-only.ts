// The target alone, in steps: the dear end of every curve. It is the nested exact system itself, from end to end.
import { fittedKnobs, resolveKnobs } from '../decode/core/knobs.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = stepKnobs;

export default {
  id: 'target-only',
  title: 'Target only',
  summary: 'The target writes every step.',
  group: 'comparison',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  uses: NESTED_USES,
  knobs,
  fit: fitInner,
  async start(run) {
    const { Boundary, inSteps } = await import('../decode/steps/step-systems.ts');
    const { delimiter, 'step-tokens': tokens, 'max-steps': steps } = run.knobs;
    const boundary = new Boundary(run, delimiter);
    const inner = innerSystem(run.knobs);
    const own = resolveKnobs({ ...inner, knobs: fittedKnobs(inner, run.models) });
    return inSteps(await inner.start({ ...run, knobs: own }), run, boundary, { tokens, steps });
  },
} satisfies DecodingSystem<typeof knobs>;
