// The models that the command line has downloaded: a folder in the user's cache.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../weights/files/store.ts';
import { DiskFolder } from './disk-folder.ts';

const cacheFolder = (): string => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData/Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches');
  return XDG_CACHE_HOME || join(homedir(), '.cache');
};

/** OUTRIDER_STORE names another one. */
export const storePath = (): string => process.env.OUTRIDER_STORE || join(cacheFolder(), 'outrider');

let opened: Store | null = null;

/** One for the whole program. */
export const openDiskStore = (): Store => {
  opened ??= new Store(new DiskFolder(storePath()));
  return opened;
};
