// The visitor's last model from the catalogue or from an address, kept in this browser. It is offered on the next visit and
// never loaded by itself.
import { asObject, store, stored } from '../shared/stored.ts';

/** What loads it again: an entry of the catalogue with its file and drafter, or an address. */
export type Remembered =
  | { readonly kind: 'entry'; readonly id: string; readonly file: number; readonly partner: string | null }
  | { readonly kind: 'address'; readonly url: string };

const KEY = 'outrider-model';

/** Null for anything that this page did not write. */
export const readRemembered = (text: string | null): Remembered | null => {
  const { kind, id, file, partner, url } = asObject(text) ?? {};
  if (kind === 'address' && typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url))
    return { kind, url };
  const drafted = partner === null || typeof partner === 'string';
  if (kind !== 'entry' || typeof id !== 'string' || !Number.isInteger(file) || !drafted) return null;
  return { kind, id, file: file as number, partner };
};

export const remembered = (): Remembered | null => readRemembered(stored(KEY));

/** Addresses with a password or a query may hold a secret and are not kept. */
export const remember = (model: Remembered | null): void => {
  const secret = model?.kind === 'address' && (new URL(model.url).search !== '' || new URL(model.url).password !== '');
  store(KEY, model && !secret ? JSON.stringify(model) : null);
};
