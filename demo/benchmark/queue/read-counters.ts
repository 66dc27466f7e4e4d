// Reads the counters of a worker from the page; counters.ts is the worker's side.
import type { Counts, CountsQuestion } from './counters.ts';

/** `reset`: peak memory starts again from the current memory. */
export const askCounts = (worker: Worker, counts: CountsQuestion['counts']): Promise<Counts> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<Counts>) => {
      port1.close();
      resolve(data);
    };
    worker.postMessage({ counts } satisfies CountsQuestion, [port2]);
  });

/** The calls between two readings, with the memory of the later one. */
export const since = (before: Counts, after: Counts): Counts => ({
  dispatches: after.dispatches - before.dispatches,
  submits: after.submits - before.submits,
  maps: after.maps - before.maps,
  bindGroups: after.bindGroups - before.bindGroups,
  bytes: after.bytes,
  peakBytes: after.peakBytes,
});
