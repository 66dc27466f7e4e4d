// Recorded runs of the real engine, written by `npm run record`. The page shows them where there is no WebGPU, slow
// enough to follow; the figures are those of the recorded times.
import { type TraceEvent, withNewNames } from '../../src/trace/index.ts';
import type { ModelNames } from '../models/family.ts';
import type { Problem } from '../run/problems.ts';

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

/** How many times slower they are shown; the page states it. */
export const SLOWER = 8;

export const recordings = async (): Promise<readonly Recording[]> => (await fetch('./traces/index.json')).json();

export const recorded = async (file: string): Promise<readonly TraceEvent[]> => {
  const text = await (await fetch(`./traces/${file}`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => withNewNames(JSON.parse(line)));
};
