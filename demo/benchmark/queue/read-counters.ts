// The page's side of counters.ts.
import type { Counts, CountsQuestion } from './counters.ts';

/** `reset`: the peak of memory starts again from what is there. */
export const askCounts = (worker: Worker, counts: CountsQuestion['counts']): Promise<Counts> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<Counts>) => {
      port1.close();
      resolve(data);
    };
    worker.postMessage({ counts } satisfies CountsQuestion, [port2]);
  });

/** What happened between two looks; memory as it was in between. */
export const since = (before: Counts, after: Counts): Counts => ({
  dispatches: after.dispatches - before.dispatches,
  submits: after.submits - before.submits,
  maps: after.maps - before.maps,
  bindGroups: after.bindGroups - before.bindGroups,
  bytes: after.bytes,
  peakBytes: after.peakBytes,
});
