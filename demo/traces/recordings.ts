// Recorded runs of the real engine, shown where there is no WebGPU, slowly enough to be followed; every figure keeps the
// recorded times. `npm run record` writes them.
import { type TraceEvent, withNewNames } from '../../src/trace/index.ts';
import type { Problem } from '../run/problems.ts';

export interface Recording {
  readonly file: string;
  /** The same prompt by the system's baseline, in the same session. */
  readonly plain: string;
  readonly system: string;
  readonly problem: Problem;
  /** Where it was recorded. */
  readonly device: string;
}

/** The page says so too. */
export const SLOWER = 8;

export const recordings = async (): Promise<readonly Recording[]> => (await fetch('./traces/index.json')).json();

export const recorded = async (file: string): Promise<readonly TraceEvent[]> => {
  const text = await (await fetch(`./traces/${file}`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => withNewNames(JSON.parse(line)));
};
