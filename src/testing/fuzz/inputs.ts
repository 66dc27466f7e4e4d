// What a fuzz test tries, and what an input may cost. `npm test` tries a fixed share of inputs, `npm run fuzz` that share
// times OUTRIDER_FUZZ, a full run twice the share.
import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { processorLimit } from '../slowness.ts';

const times = process.env.OUTRIDER_FUZZ ?? (process.env.OUTRIDER_FULL === '1' ? 2 : 1);

export const inputs = (share: number): number => share * Math.max(1, Number(times));

/** The most that reading one input may take, besides the input itself. */
const MOST_BYTES = 64 * 2 ** 20;

/** Of the process: JavaScript's heap, and what lies outside of it (buffers, WebAssembly's memory). */
interface Used {
  readonly heap: number;
  readonly external: number;
}

const usedNow = (): Used => {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return { heap, external };
};

const grown = (from: Used, to: Used): number =>
  Math.max(0, to.heap - from.heap) + Math.max(0, to.external - from.external);

/** The heap before and after each collection of garbage, as Node's profiler reports them. */
type Collections = readonly (readonly [before: Used, after: Used])[];

interface Profiled {
  readonly start: Used;
  readonly collections: Collections;
  readonly end: Used;
  /** What the run threw. */
  readonly thrown: readonly unknown[];
}

const profiled = async (run: () => unknown): Promise<Profiled> => {
  const profiler = new GCProfiler();
  const thrown: unknown[] = [];
  profiler.start();
  const start = usedNow();
  try {
    await run();
  } catch (error) {
    thrown.push(error);
  }
  const end = usedNow();
  const { statistics } = profiler.stop();
  const used = ({ heapStatistics }: (typeof statistics)[number]['beforeGC']): Used => ({
    heap: heapStatistics.usedHeapSize,
    external: heapStatistics.externalMemory,
  });
  return {
    start,
    end,
    thrown,
    collections: statistics.map(({ beforeGC, afterGC }) => [used(beforeGC), used(afterGC)]),
  };
};

/** Collects all garbage. */
const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

/** Measures inputs one by one; what an input throws passes through. */
export class Watch {
  /** Of the slowest input, in milliseconds of processor time. */
  slowest = 0;
  /** An upper bound on the memory of the input that took most. */
  mostBytes = 0;

  /** `run` reads the input; it may be run twice. */
  async input(run: () => unknown): Promise<void> {
    const began = process.cpuUsage();
    const { start, collections, end, thrown } = await profiled(run);
    const { user, system } = process.cpuUsage(began);
    this.slowest = Math.max(this.slowest, (user + system) / 1000);
    // All that was allocated, whether it was garbage by then or not.
    let allocated = 0;
    let from = start;
    for (const [before, after] of collections) {
      allocated += grown(from, before);
      from = after;
    }
    allocated += grown(from, end);
    this.mostBytes = Math.max(this.mostBytes, allocated < MOST_BYTES / 2 ? allocated : await mostOf(run));
    for (const error of thrown) throw error;
  }

  /** Fails where the input that was just measured took too long or too much. */
  check(shown = ''): void {
    expect(this.slowest, shown).toBeLessThan(processorLimit(this.slowest, 1000));
    expect(this.mostBytes, shown).toBeLessThan(MOST_BYTES);
  }

  toString(): string {
    return `slowest ${this.slowest.toFixed(0)} ms, at most ${(this.mostBytes / 2 ** 20).toFixed(1)} MiB for an input`;
  }
}

/** The most that one run holds at once: begun without garbage, no collection of earlier garbage can hide its growth. */
const mostOf = async (run: () => unknown): Promise<number> => {
  collect();
  const { start, collections, end } = await profiled(run);
  return Math.max(grown(start, end), ...collections.map(([before]) => grown(start, before)));
};
