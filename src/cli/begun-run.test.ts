import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { badConstraint, refuse } from '../base/refuse.ts';
import { ServerRefusal } from '../remote/failures.ts';
import type { TraceEvent } from '../trace/index.ts';
import { WorkError } from './arguments.ts';
import { begunRun } from './begun-run.ts';

const run: TraceEvent = { at: 0, type: 'run', version: 1, system: 'x', knobs: {}, seed: 0, prompt: [1] };

const failure = async (events: readonly TraceEvent[], error: Error): Promise<unknown> => {
  const failing = async function* () {
    yield* events;
    throw error;
  };
  try {
    for await (const _ of begunRun(failing()));
  } catch (thrown) {
    return thrown;
  }
  throw new Error('it did not fail');
};

it.each([
  ['a dead end of the constraint', badConstraint('no token', 'Change it.')],
  ['what a server refuses', new ServerRefusal('401', 'A key.')],
])('takes %s for a failure of the work', async (_, error) => {
  const thrown = await failure([run], error);
  expect(thrown).toBeInstanceOf(WorkError);
  const { code, message, hint } = error as OutriderError;
  expect(thrown).toMatchObject({ code, message, hint, cause: error });
});

it.each([
  ['a constraint that does not compile', [], badConstraint('no token')],
  ['a setting that a system refuses as it starts', [run], refuse('too deep')],
  ['a failure of another kind', [run], new OutriderError('out-of-memory', 'full')],
])('hands on %s', async (_, events, error) => {
  expect(await failure(events, error)).toBe(error);
});
