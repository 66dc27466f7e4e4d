// Opens a checkpoint of either format by its headers alone. What a model does with its tensors is not known here: the
// architecture notices a missing tensor or a wrong shape.
import { bad, refuse } from '../base/refuse.ts';
import { checkCounts } from './believable.ts';
import { type Checkpoint, type TokenizerFiles, templateField } from './checkpoint.ts';
import { addressFiles } from './files/address.ts';
import { type ByteSource, blobFiles, type FileSet, memoryFiles, readJson, readText } from './files/byte-source.ts';
import { checkedFiles, type Digests, SERVE_BUNDLED } from './files/checked.ts';
import { HttpSource } from './files/http.ts';
import { missingFile } from './files/missing.ts';
import type { Store } from './files/store.ts';
import { readGguf } from './gguf/container.ts';
import { inFile, openGguf } from './gguf/open-gguf.ts';
import { ggufTokenizer } from './gguf/tokenizer.ts';
import { type Open, type Opened, SPLIT } from './opened-checkpoint.ts';
import { type PlacedTensor, streamRowBlocks } from './row-blocks.ts';
import { parseShardIndex, readSafetensors } from './safetensors.ts';
import { readTorchArchive } from './torch-archive.ts';

/** Where a checkpoint is. */
export type Source =
  /**
   * A model's folder or file on the web. With `revalidate` the server is asked whether stored files are current. Files
   * whose SHA-256 is in `digests` are checked before they are used, and held in memory while they are read; for a
   * model that is `bundled` under a name, the engine has them.
   */
  | {
      readonly kind: 'url';
      readonly url: string;
      readonly revalidate?: boolean;
      readonly bundled?: string;
      readonly digests?: Digests;
    }
  | { readonly kind: 'files'; readonly files: readonly File[] | FileList }
  | { readonly kind: 'bytes'; readonly files: ReadonlyMap<string, Uint8Array> }
  /** A set of files that is open already. */
  | { readonly kind: 'folder'; readonly files: FileSet };

export interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Bytes that have arrived from the network since the start, header, tensors and all, and those of all files that have
   * been opened. Called from the first file with weights on: the others are small, and are no measure of the whole.
   */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined;
  /** Where files from the network are kept (store.ts); without one they are read as they arrive. */
  readonly store?: Store | undefined;
}

export const openCheckpoint = async (source: Source, options: OpenOptions = {}): Promise<Checkpoint> => {
  const files = fileSet(source, options);
  const opened: ByteSource[] = [];
  const close = (): void => {
    for (const file of opened.splice(0)) file[Symbol.dispose]();
  };
  /** Every file opened here is closed with the checkpoint, or at once when opening fails. */
  const open: Open = async (name, instead) => {
    const { signal } = options;
    let file = await files.open(name, { signal });
    if (!file && instead) {
      file = await files.open(instead, { signal });
      if (file) await files.open(name, { signal, optional: true }); // a store may remember that it is absent
    }
    if (!file) throw missingFile(files, name);
    opened.push(file);
    return file;
  };
  try {
    const gguf = ggufFile(files);
    const { parts, placed } = gguf
      ? await openGguf(gguf, open, options.signal)
      : await openSafetensors(files, open, options);
    refuseDuplicates(placed);
    checkCounts(
      parts.config,
      placed.map(({ info }) => info),
      parts.format === 'gguf' ? parts.name : 'config.json',
    );
    const tensors = new Map(placed.map(({ info }) => [info.name, info]));
    return {
      ...parts,
      tensors,
      bytes: placed.reduce((sum, { info }) => sum + info.bytes, 0),
      version: opened.map(({ name, size, version = '' }) => `${name} ${size} ${version}`).join('\n'),
      stream: (streaming) => streamRowBlocks(placed, streaming),
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    throw error;
  }
};

/** Files of a model without weights. */
const TEXT = /\.(json|jinja)$/;

/** The files of a source, each opened when it is asked for. */
export const fileSet = (source: Source, { store, onProgress }: OpenOptions): FileSet => {
  if (source.kind === 'files') return blobFiles(source.files);
  if (source.kind === 'bytes') return memoryFiles(source.files);
  if (source.kind === 'folder') return source.files;
  const { url, revalidate, bundled, digests } = source;
  let arrived = 0;
  const sizes = new Map<string, number>();
  const onBytes = (bytes: number): void => {
    arrived += bytes;
    if ([...sizes.keys()].every((name) => TEXT.test(name))) return;
    onProgress?.(
      arrived,
      [...sizes.values()].reduce((sum, size) => sum + size, 0),
    );
  };
  let sentPage = false;
  const onPage = (): void => {
    sentPage = true;
  };
  const found = addressFiles(url, async (address, options) => {
    const how = { ...options, revalidate, onBytes, onPage };
    const file = await (store ? store.open(address, how) : HttpSource.open(address, how));
    if (file) sizes.set(file.name, file.size);
    return file;
  });
  const files: FileSet = {
    ...found,
    hint: bundled && SERVE_BUNDLED,
    get sentPage() {
      return sentPage;
    },
  };
  return digests ? checkedFiles(files, digests) : files;
};

/** The GGUF to open (of a split one, the first part), or null when the set is a safetensors model. */
const ggufFile = (files: FileSet): string | null => {
  if (files.entry !== null) return files.entry.endsWith('.gguf') ? firstPart(files.entry) : null;
  const names = files.names ?? [];
  if (names.includes('config.json') && names.some((name) => name.endsWith('.safetensors') || name === TORCH))
    return null;
  const found = [...new Set(names.filter((name) => name.endsWith('.gguf')).map(firstPart))];
  if (found.length > 1) throw refuse(`${files.name} holds ${found.length} models`, `Name one: ${found.join(', ')}.`);
  return found[0] ?? null;
};

const firstPart = (name: string): string => name.replace(SPLIT, '$1-00001-of-$3.gguf');

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

const openSafetensors = async (files: FileSet, open: Open, { signal }: OpenOptions): Promise<Opened> => {
  const config = await readJson(files, 'config.json', { signal });
  if (!config) throw missingFile(files, 'config.json');
  const index = await readJson(files, INDEX, { signal, optional: true });
  const shards = index ? parseShardIndex(INDEX, index) : null;
  const names = shards ? [...new Set(shards.values())].sort() : [weightsFile(files)];
  const placed: PlacedTensor[] = [];
  for (const name of names) {
    // An address cannot say which of the two files it has.
    const source = await open(name, files.names === null && name === WEIGHTS ? TORCH : undefined);
    const stored =
      source.name === TORCH ? await readTorchArchive(source, signal) : await readSafetensors(source, signal);
    for (const { start, ...info } of stored) {
      if (shards && shards.get(info.name) !== name)
        throw bad(`${name} holds ${info.name}, which the index does not place there`);
      placed.push({ info, source, start, order: null });
    }
    if (names.length > 1) source.release?.();
  }
  const found = new Set(placed.map(({ info }) => info.name));
  for (const [name, shard] of shards ?? [])
    if (!found.has(name)) throw bad(`${shard} lacks ${name}, which the index places there`);
  return {
    parts: {
      format: 'safetensors',
      name: files.name,
      config,
      tokenizer: (s) => readTokenizer(files, s),
      generation: (s) => readGeneration(files, s),
    },
    placed,
  };
};

/** The weights where there is no safetensors file: a zip archive that PyTorch wrote. */
const TORCH = 'pytorch_model.bin';

const weightsFile = (files: FileSet): string => {
  if (files.entry?.endsWith('.safetensors')) return files.entry;
  const found = (files.names ?? []).filter((name) => name.endsWith('.safetensors'));
  if (found.length === 0 && files.names?.includes(TORCH)) return TORCH;
  return found.length === 1 ? (found[0] as string) : WEIGHTS;
};

const refuseDuplicates = (placed: readonly PlacedTensor[]): void => {
  const seen = new Set<string>();
  for (const { info } of placed) {
    if (seen.has(info.name)) throw bad(`tensor ${info.name} occurs in two files`);
    seen.add(info.name);
  }
};

/** A model's tokenizer without its weights, which need not be there. */
export const openTokenizerFiles = async (source: Source, options: OpenOptions = {}): Promise<TokenizerFiles | null> => {
  const files = fileSet(source, options);
  const gguf = ggufFile(files);
  if (!gguf) return readTokenizer(files, options.signal);
  using file = await files.open(gguf, { signal: options.signal });
  if (!file) throw missingFile(files, gguf);
  const { metadata } = await readGguf(file, options.signal);
  return inFile(gguf, () => ggufTokenizer(metadata));
};

export const readTokenizer = async (files: FileSet, signal?: AbortSignal): Promise<TokenizerFiles | null> => {
  const options = { signal, optional: true };
  const tokenizer = await readJson(files, 'tokenizer.json', options);
  if (!tokenizer) return null;
  const config = (await readJson(files, 'tokenizer_config.json', options)) ?? {};
  const generation = await readGeneration(files, signal);
  return { tokenizer, config: { ...config, ...(await readTemplates(files, signal)) }, generation };
};

const readGeneration = async (files: FileSet, signal: AbortSignal | undefined): Promise<TokenizerFiles['generation']> =>
  (await readJson(files, 'generation_config.json', { signal, optional: true })) ?? {};

/**
 * Since 2025 models keep their templates in files of their own. As in transformers, these replace what
 * tokenizer_config.json holds, which may have stayed behind when the template was mended.
 */
const readTemplates = async (files: FileSet, signal: AbortSignal | undefined): Promise<TokenizerFiles['config']> => {
  const read = async (name: string): Promise<string | null> => {
    using file = await files.open(name, { signal, optional: true });
    return file && readText(file, signal);
  };
  const template = await read('chat_template.jinja');
  return template === null ? {} : templateField(template, await read('additional_chat_templates/tool_use.jinja'));
};
