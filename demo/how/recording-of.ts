// The recorded run of a system, with the run of its baseline on the same prompt.
import type { TraceEvent } from '../../src/trace/index.ts';
import { type Recording, recorded, recordings } from '../traces/recordings.ts';

let all: Promise<readonly Recording[]> | null = null;

export interface Recorded {
  readonly recording: Recording;
  readonly events: readonly TraceEvent[];
  readonly plain: readonly TraceEvent[];
}

export const recordingOf = async (system: string): Promise<Recorded> => {
  all ??= recordings();
  const recording = (await all).find((each) => each.system === system);
  if (!recording) throw new Error(`no recording of ${system}`);
  const [events, plain] = await Promise.all([recorded(recording.file), recorded(recording.plain)]);
  return { recording, events, plain };
};
