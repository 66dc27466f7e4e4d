// A run whose failure tells whether the arguments were at fault. A constraint that cannot be compiled is refused before
// the first event, so one that fails later is a dead end of the answer; what a server refuses is found out in the run.
import { OutriderError } from '../base/errors.ts';
import { ServerRefusal } from '../remote/failures.ts';
import type { TraceEvent } from '../trace/index.ts';
import { WorkError } from './arguments.ts';

export async function* begunRun(events: AsyncIterable<TraceEvent>): AsyncGenerator<TraceEvent, void, undefined> {
  let begun = false;
  try {
    for await (const event of events) {
      begun = true;
      yield event;
    }
  } catch (error) {
    const deadEnd = begun && error instanceof OutriderError && error.code === 'bad-constraint';
    throw deadEnd || error instanceof ServerRefusal ? new WorkError(error) : error;
  }
}
