// What this browser keeps for the site. Storage may be full or switched off (a private window, a sandboxed frame): then
// nothing is found, and what is kept lasts as long as the page.
import { isObject } from '../../src/base/is-object.ts';

const quietly = <T>(act: () => T): T | null => {
  try {
    return act();
  } catch {
    return null;
  }
};

export const stored = (key: string): string | null => quietly(() => localStorage.getItem(key));

/** Null forgets it. False: nothing was stored. */
export const store = (key: string, text: string | null): boolean =>
  quietly(() => {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  }) ?? false;

/** Whether anything can be kept. */
export const canStore = (): boolean => quietly(() => localStorage.length) !== null;

/** Of this tab alone, and until it is closed. */
export const storedInTab = (key: string): string | null => quietly(() => sessionStorage.getItem(key));

export const storeInTab = (key: string, text: string): void => {
  quietly(() => sessionStorage.setItem(key, text));
};

/** A stored text as an object; null for anything that is none, because others may write there too. */
export const asObject = (text: string | null): Readonly<Record<string, unknown>> | null => {
  const value: unknown = quietly(() => JSON.parse(text ?? 'null'));
  return isObject(value) ? value : null;
};
