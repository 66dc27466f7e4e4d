// Opens what a step system works with: the draft that writes candidates, the target that writes escalated steps, and
// the boundary of steps.
import type { Cursor, OpenCursor, Sampling } from '../../model/interface.ts';
import { stepSampling } from '../core/draft-sampling.ts';
import { readPrompt } from '../core/prefill.ts';
import type { DecodingSystem, RunContext } from '../core/system.ts';
import { Candidates } from './candidates.ts';
import { NestedSystem } from './nested-system.ts';
import { StepBoundary } from './step-boundary.ts';
import { remoteWriter, type StepWriter } from './step-writer.ts';

export interface StepLimits {
  readonly delimiter: number;
  readonly 'step-tokens': number;
  readonly 'max-steps': number;
}

/** How the draft writes candidates. */
export interface DraftOptions extends Pick<OpenCursor, 'rollout' | 'pool'> {
  /** Keeps the hidden states of all rows, for a judge that reads them. */
  readonly states?: boolean;
  /** One for each candidate. Default: one candidate, drawn as the request says. */
  readonly samplings?: readonly Sampling[];
}

export interface StepModels {
  readonly draft: Candidates;
  /** Where the draft writes its candidates, if there is one at a time. */
  readonly written: Cursor;
  readonly boundary: StepBoundary;
  /** On this machine, or on another one. */
  readonly target: StepWriter;
  /** On this machine. */
  readonly nested: NestedSystem;
  /** The target's context, in tokens. */
  readonly context: number;
  readonly most: { readonly tokens: number; readonly steps: number };
}

/** `writer`: the exact system that writes escalated steps. */
export const openSteps = async (
  run: RunContext,
  knobs: StepLimits,
  writer: DecodingSystem,
  { samplings = [stepSampling(run.sequence.sampling)], states = false, ...rows }: DraftOptions = {},
): Promise<StepModels> => {
  const { draft: model, remote } = run.models;
  if (!model) throw new Error('a step system was started without a draft');
  const boundary = new StepBoundary(run, knobs.delimiter);
  const room = knobs['step-tokens'];
  const forks = samplings.length > 1 ? { forks: { count: samplings.length, room } } : {};
  const cursor = await run.open('draft', { ...forks, ...rows, ...(states && { pool: true }), ahead: room });
  await readPrompt(run, cursor);
  const nested = new NestedSystem(run, writer, boundary, cursor, room);
  return {
    draft: new Candidates({
      by: 'draft',
      model,
      cursor,
      samplings,
      boundary,
      room,
      grounds: rows.rollout !== undefined,
      pools: rows.pool === true,
    }),
    written: cursor,
    boundary,
    target: remote ? remoteWriter(remote) : nested,
    nested,
    context: run.models.target.context,
    most: { tokens: room, steps: knobs['max-steps'] },
  };
};
