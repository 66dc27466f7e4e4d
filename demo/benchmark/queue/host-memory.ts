// Memory beside the GPU's, as far as the browser tells. It is asked once, behind a row's last run, because the better of the
// two ways may wait for a garbage collection.

export interface HostMemory {
  readonly bytes: number;
  /** `performance.memory` knows the page's own JavaScript only, and in coarse steps; nothing of workers. */
  readonly by: 'measureUserAgentSpecificMemory' | 'performance.memory';
}

interface MemoryShare {
  readonly bytes: number;
  readonly attribution: readonly { readonly url: string; readonly scope: string }[];
}

/** In no browser's types yet: the first where the page is cross-origin isolated, the second in Chromium. */
interface MemoryTeller {
  measureUserAgentSpecificMemory?(): Promise<{ readonly breakdown: readonly MemoryShare[] }>;
  readonly memory?: { readonly usedJSHeapSize: number };
}

/** Of the workers that this file's name begins; null where the browser says nothing. */
export type ToldMemory = (file: string) => HostMemory | null;

export const askMemory = async (teller = performance as MemoryTeller): Promise<ToldMemory> => {
  const { memory } = teller;
  // Some versions have it without isolation too, where it throws.
  const found = await teller.measureUserAgentSpecificMemory?.().catch(() => null);
  if (!found) return () => (memory ? { bytes: memory.usedJSHeapSize, by: 'performance.memory' } : null);
  return (file) => {
    const own = found.breakdown.filter(({ attribution }) =>
      attribution.some(({ scope, url }) => scope === 'DedicatedWorkerGlobalScope' && url.includes(`/${file}`)),
    );
    return { bytes: own.reduce((sum, { bytes }) => sum + bytes, 0), by: 'measureUserAgentSpecificMemory' };
  };
};
