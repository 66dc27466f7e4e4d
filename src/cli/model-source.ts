// Reads the name of a model: an address, a bundled model's name, a folder or a file, an entry of the catalogue, or a
// repository on Hugging Face.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { toFault } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { addressOfEntry } from '../catalogue/catalogue.ts';
import { findModel, repositoryOf } from '../catalogue/find-model.ts';
import { BUNDLED_DIGESTS } from '../engine/bundled-digests.ts';
import { loading } from '../engine/load/checkpoint.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import { checkedFiles } from '../weights/files/checked.ts';
import { folderFiles, folderSource } from '../weights/files/folder.ts';
import { openCheckpoint, openTokenizerFiles, type Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { text, UsageError } from './arguments.ts';
import { openDiskStore } from './store.ts';
import type { Terminal } from './terminal.ts';

/** Without --model: the bundled family's largest. */
export const DEFAULT_MODEL = 'target';
/** Its smallest. */
export const DEFAULT_DRAFT = 'draft';

export const modelOption = text(
  'M',
  `a folder, a .gguf file, an address, owner/model on Hugging Face, an id of models --catalogue, or a bundled model (default: ${DEFAULT_MODEL})`,
);

const bundledFolder = (root: string): string => join(root, 'public/models');

export const bundledNames = (root: string): readonly string[] => {
  const folder = bundledFolder(root);
  const has = (name: string) => ['config.json', 'model.gguf'].some((file) => existsSync(join(folder, name, file)));
  return existsSync(folder) ? readdirSync(folder).filter(has) : [];
};

export const PRECISIONS = ['f32', 'f16', 'q8', 'q4'] as const satisfies readonly Precision[];

/** `M@q4`: this model at a precision of its own. A path that ends like this is a name all the same. */
export const readModelName = (model: string): { readonly name: string; readonly precision?: Precision } => {
  const precision = PRECISIONS.find((known) => model.endsWith(`@${known}`));
  return precision && !existsSync(model) ? { name: model.slice(0, -1 - precision.length), precision } : { name: model };
};

/** The bytes of a bundled policy, which is one ONNX file; null where the name is another model's. */
export const bundledPolicyBytes = (root: string, name: string): number | null =>
  statSync(join(bundledFolder(root), name, 'policy.onnx'), { throwIfNoEntry: false })?.size ?? null;

const bundledFiles = async (root: string, name: string): Promise<Source> => {
  const files = await folderFiles(join(bundledFolder(root), name));
  return { kind: 'folder', files: checkedFiles(files, BUNDLED_DIGESTS[name] ?? {}) };
};

/** What modelSource needs of the terminal. */
type Asking = Pick<Terminal, 'root' | 'signal' | 'note'>;

/** A repository's model. Where its list of files cannot be fetched, it is the one that was chosen the last time. */
const repositorySource = async (name: string, { signal, note }: Asking): Promise<Source> => {
  const store = openDiskStore();
  const key = `chosen of ${name}`;
  try {
    const { address, file, bytes, why } = await findModel(name, { signal });
    note(`${name}: ${file}, ${Math.round(bytes / 1e6)} MB: ${why}`);
    await store.note(key, address);
    return { kind: 'url', url: address };
  } catch (error) {
    const url = toFault(error).code === 'download-failed' ? await store.recall(key) : null;
    if (url === null) throw error;
    note(`warning: ${toFault(error).message}; what was chosen the last time is taken: ${url}`);
    return { kind: 'url', url };
  }
};

export const modelSource = async (model: string | undefined, terminal: Asking): Promise<Source> => {
  const { root } = terminal;
  const { name } = readModelName(model ?? DEFAULT_MODEL);
  if (/^https?:\/\//.test(name)) return { kind: 'url', url: name, revalidate: true };
  if (bundledNames(root).includes(name)) return bundledFiles(root, name);
  if (existsSync(name)) return folderSource(name);
  const entry = addressOfEntry(name);
  if (entry) return { kind: 'url', url: entry };
  if (repositoryOf(name)) return repositorySource(name, terminal);
  const bundled = bundledNames(root).join(', ');
  throw new UsageError(
    `there is no model "${name}"`,
    `It is neither a path, nor bundled (${bundled}), nor in \`outrider models --catalogue\`.`,
  );
};

export const openModel = async (model: string | undefined, terminal: Terminal): Promise<Checkpoint> => {
  const source = await modelSource(model, terminal);
  const how = { signal: terminal.signal, store: openDiskStore() };
  return loading(source, how, () => openCheckpoint(source, how));
};

/** Its tokenizer alone, whose weights need not be there. Null: the model serves token ids only. */
export const openTokenizer = async (model: string | undefined, terminal: Terminal): Promise<Tokenizer | null> => {
  const source = await modelSource(model, terminal);
  const how = { signal: terminal.signal, store: openDiskStore() };
  return loading(source, how, async () => {
    const files = await openTokenizerFiles(source, how);
    return files && loadTokenizer(files);
  });
};

export const needTokenizer = (tokenizer: Tokenizer | null, model: string | undefined): Tokenizer => {
  if (tokenizer) return tokenizer;
  throw refuse(
    `${basename(model ?? DEFAULT_MODEL)} has no tokenizer: it takes token ids only`,
    'Give ids with --tokens, or put tokenizer.json and tokenizer_config.json next to the weights.',
  );
};
