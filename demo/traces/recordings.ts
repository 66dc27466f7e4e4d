// Recorded runs of the real engine, written by `npm run record`. The page shows them where there is no WebGPU, slow
// enough to follow; the figures are those of the recorded times.
import { SYSTEMS } from '../../src/index.ts';
import { type TraceEvent, withNewNames } from '../../src/trace/index.ts';
import type { ModelNames } from '../models/family.ts';
import type { Problem } from '../run/problems.ts';
import { withLavapipe } from '../shared/words.ts';
import type { TraceFile } from './trace-file.ts';

export interface Recording {
  readonly file: string;
  /** File of the run of the system's baseline on the same prompt, in the same session. */
  readonly plain: string;
  /** File of the draft's own answer, where a judge decides on its steps. */
  readonly draft?: string;
  readonly system: string;
  /** Bundled models by role, next to the target. */
  readonly models: ModelNames;
  readonly problem: Problem;
  /** Where it was recorded. */
  readonly device: string;
}

export const titleOf = (system: string): string => SYSTEMS.find(({ id }) => id === system)?.title ?? system;

/** How many times slower they are shown; the page states it. */
export const SLOWER = 8;

export const recordings = async (): Promise<readonly Recording[]> => (await fetch('./traces/index.json')).json();

/** Where a run was made, without the versions of its driver. */
export const placeOf = (device: string): string => withLavapipe(device.replace(/:.*/, ''));

export const recorded = async (file: string): Promise<readonly TraceEvent[]> => {
  const text = await (await fetch(`./traces/${file}`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => withNewNames(JSON.parse(line)));
};

/** A recording and the run it is compared with, fetched. */
export const traceOf = async ({ file, plain, system, problem, device }: Recording): Promise<TraceFile> => {
  const [events, plainEvents] = await Promise.all([recorded(file), recorded(plain)]);
  return { title: titleOf(system), problem, device, events, plain: plainEvents };
};
