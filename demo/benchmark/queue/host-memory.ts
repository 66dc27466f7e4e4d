// Host memory, as far as the browser reports it. It is asked once, after the last run of a row, because the more
// precise of the two interfaces may wait for a garbage collection.

export interface HostMemory {
  readonly bytes: number;
  /** `performance.memory` counts the page's own JavaScript only, in coarse steps, without workers. */
  readonly by: 'measureUserAgentSpecificMemory' | 'performance.memory';
}

interface MemoryShare {
  readonly bytes: number;
  readonly attribution: readonly { readonly url: string; readonly scope: string }[];
}

/** Not in TypeScript's types. The first needs a cross-origin isolated page; the second exists in Chromium. */
interface MemoryApi {
  measureUserAgentSpecificMemory?(): Promise<{ readonly breakdown: readonly MemoryShare[] }>;
  readonly memory?: { readonly usedJSHeapSize: number };
}

/** Memory of the workers whose file name begins with `file`; null if the browser reports none. */
export type MemoryOf = (file: string) => HostMemory | null;

export const askMemory = async (api = performance as MemoryApi): Promise<MemoryOf> => {
  const { memory } = api;
  // Some versions have it without isolation too, but then it throws.
  const found = await api.measureUserAgentSpecificMemory?.().catch(() => null);
  if (!found) return () => (memory ? { bytes: memory.usedJSHeapSize, by: 'performance.memory' } : null);
  return (file) => {
    const own = found.breakdown.filter(({ attribution }) =>
      attribution.some(({ scope, url }) => scope === 'DedicatedWorkerGlobalScope' && url.includes(`/${file}`)),
    );
    return { bytes: own.reduce((sum, { bytes }) => sum + bytes, 0), by: 'measureUserAgentSpecificMemory' };
  };
};
