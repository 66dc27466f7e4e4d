// Locks tell a tab and the worker of all tabs when the other one is gone: a page or a worker that ends, or crashes,
// sends no message, and the browser releases its locks.

/** Holds a lock until the function that it returns is called, or until this page or worker is gone. */
export const hold = (name: string): Promise<() => void> =>
  new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });

/** Resolves when the page or worker that holds the lock has released it or is gone. */
export const released = (name: string): Promise<void> => navigator.locks.request(name, () => {});

/** What the worker holds as long as it serves the tab that holds `tab`. */
export const servingLock = (tab: string): string => `${tab}-served`;
