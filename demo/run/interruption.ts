// A lost GPU, in sentences: the run says so and goes on.
import type { TraceEvent } from '../../src/trace/index.ts';

/** Null for every other event. */
export const interruptionSentence = (event: TraceEvent): string | null => {
  if (event.type === 'device-lost') return 'The GPU was lost. The models are loaded again, then the answer goes on.';
  if (event.type !== 'recovered') return null;
  return `The GPU was lost. The models were loaded again in ${(event.ms / 1000).toFixed(1)} s, and the answer goes on.`;
};
