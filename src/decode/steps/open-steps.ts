// What a step system works with: the draft as it writes candidates, the target as it writes escalated steps, and where
// steps end.
import type { OpenCursor, Sampling } from '../../model/interface.ts';
import { draftSampling } from '../core/draft-sampling.ts';
import { readPrompt } from '../core/prefill.ts';
import type { DecodingSystem, RunContext } from '../core/system.ts';
import { Candidates } from './candidates.ts';
import { type Author, Nested, remotely } from './escalate.ts';
import { Boundary } from './step-boundary.ts';

export interface StepLimits {
  readonly delimiter: number;
  readonly 'step-tokens': number;
  readonly 'max-steps': number;
}

export interface DraftOptions extends Pick<OpenCursor, 'rollout' | 'pool'> {
  /** One for each candidate; by default one, drawn as the request says. */
  readonly lanes?: readonly Sampling[];
}

export interface StepModels {
  readonly draft: Candidates;
  readonly boundary: Boundary;
  /** On this machine, or on another one. */
  readonly target: Author;
  /** On this machine. */
  readonly nested: Nested;
  /** Of the target, in tokens. */
  readonly context: number;
  readonly most: { readonly tokens: number; readonly steps: number };
}

/** `inner`: the exact system that writes escalated steps. */
export const openSteps = async (
  run: RunContext,
  knobs: StepLimits,
  inner: DecodingSystem,
  { lanes = [draftSampling(run.sequence.sampling)], ...keeps }: DraftOptions = {},
): Promise<StepModels> => {
  const { draft: model, remote } = run.models;
  if (!model) throw new Error('a step system was started without a draft');
  const boundary = new Boundary(run, knobs.delimiter);
  const room = knobs['step-tokens'];
  const forks = lanes.length > 1 ? { forks: { count: lanes.length, room } } : {};
  const cursor = await run.open('draft', { ...forks, ...keeps, ahead: room });
  await readPrompt(run, cursor);
  const { rollout, pool } = keeps;
  const nested = new Nested(run, inner, boundary, cursor, room);
  return {
    draft: new Candidates({
      by: 'draft',
      model,
      cursor,
      lanes,
      boundary,
      room,
      grounds: rollout !== undefined,
      pools: pool === true,
    }),
    boundary,
    target: remote ? remotely(remote) : nested,
    nested,
    context: run.models.target.context,
    most: { tokens: room, steps: knobs['max-steps'] },
  };
};
