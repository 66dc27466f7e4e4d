// Asks the browser not to clear what is stored when the disk fills up. Workers cannot ask, so the page does.

let asked = false;

/** Asks once, and not where it is granted already. Firefox asks the visitor; other browsers decide by themselves. */
export const askToPersist = async (): Promise<void> => {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  if (asked || !storage?.persist) return;
  asked = true;
  try {
    if (!(await storage.persisted?.())) await storage.persist();
  } catch {
    // Not granted: downloads are stored all the same.
  }
};
