// Starts the engine's worker in the form that bundlers look for. The library ships this file as it is
// (.ci/library-files.mjs): it must stay plain JavaScript.
export const startWorker = () =>
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'outrider' });

/** The same worker for all tabs of the site. */
export const startSharedWorker = () =>
  new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'outrider' });
