// The target alone, in steps: the most expensive end of every comparison. Exact: it is the system of the knob `inner`,
// from beginning to end, with its answer reported in steps.
import { fittedKnobs, resolveKnobs } from '../decode/core/knobs.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { reportSteps } from '../decode/steps/report-steps.ts';
import { checkDelimiter, StepBoundary } from '../decode/steps/step-boundary.ts';
import { fitInner, stepKnobs, stepWriterOf, WRITER_USES } from './step-knobs.ts';

export default {
  id: 'target-only',
  title: 'Target only',
  summary: 'The target writes every step.',
  group: 'comparison',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  uses: WRITER_USES,
  knobs: stepKnobs,
  fit: fitInner,
  check(run) {
    checkDelimiter(run);
  },
  async start(run) {
    const { delimiter, 'step-tokens': tokens, 'max-steps': steps } = run.knobs;
    const boundary = new StepBoundary(run, delimiter);
    const writer = stepWriterOf(run.knobs);
    const knobs = resolveKnobs({ ...writer, knobs: fittedKnobs(writer, run.models) });
    return reportSteps(await writer.start({ ...run, knobs }), run, boundary, { tokens, steps });
  },
} satisfies DecodingSystem<typeof stepKnobs>;
