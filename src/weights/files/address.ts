// A model at an address: a single file, or a folder with files under their usual names. The address of a model's page
// on huggingface.co is turned into that of its files.
import { refuse } from '../../base/refuse.ts';
import type { ByteSource, FileSet, OpenFile } from './byte-source.ts';

/** What an address names: one file, or a folder where it has no entry; and the addresses of files next to it. */
const readAddress = (address: string) => {
  const url = fileAddress(address);
  const last = url.pathname.split('/').at(-1) ?? '';
  const entry = /\.(gguf|safetensors|onnx|json)$/.test(last) ? decoded(last) : null;
  const base = new URL(url);
  if (entry === null && !base.pathname.endsWith('/')) base.pathname += '/';
  return {
    name: url.pathname.split('/').filter(Boolean).at(-1) ?? url.host,
    // config.json and the index stand for their folder.
    entry: entry?.endsWith('.json') ? null : entry,
    at: (name: string): string => {
      const file = new URL(name.split('/').map(encodeURIComponent).join('/'), base);
      // A query (a token, `?download=true`) belongs to every file of the folder.
      file.search = url.search;
      return file.href;
    },
  };
};

/** `open` returns null when there is no file at an address. */
export const addressFiles = (
  address: string,
  open: (address: string, options: OpenFile) => Promise<ByteSource | null>,
): FileSet => {
  const { name, entry, at } = readAddress(address);
  return { name, names: null, entry, addressOf: at, open: (file, options) => open(at(file), options) };
};

/** The address of the file that a model at this address begins with. */
export const firstFile = (address: string): string => {
  const { entry, at } = readAddress(address);
  return at(entry ?? 'config.json');
};

/** A pasted address may hold a `%` that begins no escape. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

const fileAddress = (address: string): URL => {
  let url: URL;
  try {
    url = new URL(address, globalThis.location?.href);
  } catch {
    throw refuse(`${address} is not a URL`, 'Give one such as https://host/folder/.');
  }
  if (url.protocol === 'file:')
    throw refuse(
      `${address} is on a disk, which has no server`,
      "Serve the files from http:// or https://, or give them themselves: { kind: 'files', files }.",
    );
  if (url.hostname !== 'huggingface.co') return url;
  const page = /^\/([^/]+\/[^/]+)\/?$/.exec(url.pathname);
  if (page) url.pathname = `/${page[1]}/resolve/main/`;
  else url.pathname = url.pathname.replace(/^(\/[^/]+\/[^/]+)\/(?:blob|tree)\//, '$1/resolve/');
  return url;
};
