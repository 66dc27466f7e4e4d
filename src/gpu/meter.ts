// What reached the device since the last call: the figures that a trace carries for each round.
import type { Counters } from './types.ts';

/** Returns a function that returns the difference to its previous call. */
export const meter = (gpu: { readonly counters: Counters }): (() => Counters) => {
  let last = { ...gpu.counters };
  return () => {
    const now = { ...gpu.counters };
    const since = {
      dispatches: now.dispatches - last.dispatches,
      submits: now.submits - last.submits,
      readbacks: now.readbacks - last.readbacks,
      readbackBytes: now.readbackBytes - last.readbackBytes,
    };
    last = now;
    return since;
  };
};
