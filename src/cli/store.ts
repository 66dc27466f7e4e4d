// The models that the command line has downloaded: a folder in the user's cache.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Store, type WholeCheck } from '../weights/files/store.ts';
import { DiskFolder } from './disk-folder.ts';

const cacheFolder = (): string => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData/Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches');
  return XDG_CACHE_HOME || join(homedir(), '.cache');
};

/** OUTRIDER_STORE names another one. */
export const storePath = (): string => process.env.OUTRIDER_STORE || join(cacheFolder(), 'outrider');

/** huggingface.co has it in the header of its redirect, which a browser would not show. */
const linkedSha256 = async (address: string, signal: AbortSignal | undefined): Promise<string | null> => {
  const asked = { method: 'HEAD', redirect: 'manual', ...(signal && { signal }) } as const;
  const response = await fetch(address, asked).catch((error) => {
    if (signal?.aborted) throw error;
    return null; // what cannot be asked cannot be compared
  });
  return /^"?([0-9a-f]{64})"?$/.exec(response?.headers.get('x-linked-etag') ?? '')?.[1] ?? null;
};

const check: WholeCheck = { stated: linkedSha256, hash: () => createHash('sha256') };

let opened: Store | null = null;

/** One for the whole program. */
export const openDiskStore = (): Store => {
  const deletion = (name: string): string => `Delete it: outrider store delete ${/\s/.test(name) ? `"${name}"` : name}`;
  opened ??= new Store(new DiskFolder(storePath()), { check, deletion });
  return opened;
};
