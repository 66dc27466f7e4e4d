// Which models are stored: the files of the store, gathered by model. A model is a folder of files or one .gguf file,
// and its name is short where that is enough: `owner/name` on huggingface.co, otherwise host and path.
import { SPLIT } from '../opened-checkpoint.ts';
import { Chunks, type Entry, readEntry, type StoreFolder } from './chunks.ts';

/** A model that is stored on this device. */
export interface StoredModel {
  /** What it is deleted by. */
  readonly name: string;
  /** Of its folder or file. */
  readonly address: string;
  /** What is stored of it takes so many bytes. */
  readonly bytes: number;
  /** False when a download was not finished; it goes on with the next load. */
  readonly complete: boolean;
}

/** A model with the addresses of its files, those too of which it is stored that they are absent. */
export interface StoredFiles extends StoredModel {
  readonly files: readonly string[];
}

/** Folders inside a model that are part of it, as sentence models have them. */
const INNER = /\/(onnx|\d+_[A-Za-z]+)$/;

/** The model that a file belongs to. A query may hold a key, so it is not shown. */
export const modelOf = (file: string): Pick<StoredModel, 'name' | 'address'> => {
  const { origin, host, pathname } = new URL(file);
  const whole = pathname.endsWith('.gguf')
    ? pathname.replace(SPLIT, '$1.gguf')
    : pathname.slice(0, pathname.lastIndexOf('/')).replace(INNER, '');
  const [, repository, revision, inside] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)(\/.*)?$/.exec(whole) ?? [];
  const short = host === 'huggingface.co' && repository !== undefined;
  const name = short ? `${repository}${revision === 'main' ? '' : `@${revision}`}${inside ?? ''}` : host + whole;
  return { name: decoded(name), address: origin + whole };
};

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a lone % is part of the path
  }
};

/** Sorted by name. */
export const listStored = async (folder: StoreFolder): Promise<StoredFiles[]> => {
  const models = new Map<string, { first: string; files: string[]; bytes: number; complete: boolean }>();
  for (const entry of await entriesOf(folder)) {
    const { name, address } = modelOf(entry.address);
    const model = models.get(name) ?? { first: address, files: [], bytes: 0, complete: true };
    models.set(name, model);
    model.files.push(entry.address);
    if (entry.size < 0) continue;
    const chunks = await Chunks.open(folder, entry);
    model.bytes += chunks.bytes;
    model.complete &&= chunks.complete;
  }
  return [...models]
    .filter(([, { bytes }]) => bytes > 0)
    .map(([name, { first, ...model }]) => ({ name, address: first, ...model }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

const entriesOf = async (folder: StoreFolder): Promise<Entry[]> => {
  const entries: Entry[] = [];
  for await (const name of folder.keys()) {
    const entry = name.endsWith('.json') ? await readEntry(folder, name) : null;
    if (entry) entries.push(entry);
  }
  return entries;
};
