// A model by its name on Hugging Face, such as `Qwen/Qwen3-0.6B-GGUF`, or by the address of its page: asks for the list
// of its files, chooses one, and says why. No file is fetched. The list comes from a stranger and is checked.
import { OutriderError } from '../base/errors.ts';
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';

/** A model whose files were listed. */
export interface FoundModel {
  /** What a load takes. */
  readonly address: string;
  /** The file that was chosen, or the folder. */
  readonly file: string;
  readonly bytes: number;
  /** Why this file. */
  readonly why: string;
  /** As its page states it; null where it does not. */
  readonly licence: string | null;
  /** Its page asks for an account and for consent to its terms. */
  readonly gated: boolean;
  /** The other files that would do, with their sizes. */
  readonly others: readonly { readonly file: string; readonly address: string; readonly bytes: number }[];
}

/** How a model is looked up. */
export interface FindOptions {
  /** Another server with the same interface. Default: https://huggingface.co */
  readonly hub?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const HUB = 'https://huggingface.co';
/** The lists of the largest repositories take some 2 MB. */
const MAX_LIST_BYTES = 8 * 2 ** 20;
const MAX_FILES = 10_000;

const NAME = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/;

/** The name of a repository, from itself or from the address of its page; null: it is something else. */
export const repositoryOf = (text: string, hub = HUB): string | null => {
  const given = text.trim();
  if (NAME.test(given) && !/\.(gguf|safetensors|json|onnx)$/.test(given)) return given;
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) return null;
  const { host, pathname } = new URL(given);
  if (host !== new URL(hub).host) return null;
  const page = /^\/([^/]+\/[^/]+?)(?:\/tree\/main)?\/?$/.exec(pathname)?.[1];
  return page && NAME.test(page) ? page : null;
};

interface Listed {
  readonly name: string;
  readonly bytes: number;
}

const wrong = (repository: string, what: string): OutriderError =>
  new OutriderError('download-failed', `the list of ${repository}: ${what}`, 'Give the address of a file instead.');

/** Files of the list's top folder, as far as they are files of models. */
const readFiles = (repository: string, siblings: unknown): readonly Listed[] => {
  if (!Array.isArray(siblings)) throw wrong(repository, 'it names no files');
  if (siblings.length > MAX_FILES) throw wrong(repository, `it names ${siblings.length} files`);
  return siblings.flatMap((entry: unknown): Listed[] => {
    const { rfilename: name, size } = isObject(entry) ? entry : {};
    if (typeof name !== 'string' || !/^[\w.+ ()-]{1,200}$/.test(name)) return [];
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return [];
    return [{ name, bytes: size }];
  });
};

const PART = /^(.+)-00001-of-(\d{5})\.gguf$/;

/** Models in GGUF: files of their own, and the first parts of whole split ones with the size of all. */
const ggufModels = (files: readonly Listed[]): readonly Listed[] => {
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]));
  return files.flatMap(({ name, bytes }): Listed[] => {
    if (!name.endsWith('.gguf') || /mmproj|imatrix/i.test(name)) return [];
    if (!/-\d{5}-of-\d{5}\.gguf$/.test(name)) return [{ name, bytes }];
    const [, stem, count = ''] = PART.exec(name) ?? [];
    if (stem === undefined || Number(count) > 1000) return [];
    const parts = Array.from({ length: Number(count) }, (_, i) =>
      sizes.get(`${stem}-${String(i + 1).padStart(5, '0')}-of-${count}.gguf`),
    );
    return parts.includes(undefined)
      ? []
      : [{ name, bytes: parts.reduce<number>((sum, part) => sum + (part ?? 0), 0) }];
  });
};

/** The first of these that there is; each with the reason to take it. */
const WANTED: readonly (readonly [RegExp, string])[] = [
  [/q4_k_m/i, 'Q4_K_M keeps most of the quality in a third of the size'],
  [/q4_k_s|q4_0|q4_1|iq4_(nl|xs)|q4_k_xl/i, 'of its files this one has 4 bits a weight'],
  [/q5_|q6_k|q8_0/i, 'it has no file of 4 bits; this one is the next larger'],
  [/./, 'it is the smallest of its files'],
];

const folderModel = (files: readonly Listed[]): Listed | null => {
  if (!files.some(({ name }) => name === 'config.json')) return null;
  const weights = files.filter(({ name }) => /^model(-\d{5}-of-\d{5})?\.safetensors$/.test(name));
  const archive = files.filter(({ name }) => name === 'pytorch_model.bin');
  const taken = weights.length > 0 ? weights : archive;
  return taken.length === 0 ? null : { name: '', bytes: taken.reduce((sum, { bytes }) => sum + bytes, 0) };
};

const choose = (repository: string, files: readonly Listed[]): readonly [Listed, string, readonly Listed[]] => {
  const models = ggufModels(files).toSorted((a, b) => a.bytes - b.bytes);
  for (const [pattern, why] of WANTED) {
    const chosen = models.find(({ name }) => pattern.test(name));
    if (!chosen) continue;
    const others = models.filter((model) => model !== chosen);
    return [chosen, others.length === 0 ? 'it is the only GGUF file' : why, others];
  }
  const folder = folderModel(files);
  if (folder) return [folder, 'it has no GGUF file: config and weights are taken as they are', []];
  const hint = 'A model is a .gguf file, or config.json with model.safetensors.';
  throw new OutriderError('bad-checkpoint', `${repository} holds no model that Outrider reads`, hint);
};

const fetchList = async (address: string, repository: string, signal: AbortSignal | undefined): Promise<unknown> => {
  const plain = { credentials: 'omit', referrerPolicy: 'no-referrer', ...(signal && { signal }) } as const;
  const response = await fetch(address, plain).catch((cause) => {
    if (signal?.aborted) throw cause;
    const hint = 'Check the connection, or give the address of a file.';
    throw new OutriderError('download-failed', `the list of ${repository} cannot be fetched`, hint, { cause });
  });
  if (response.status === 401 || response.status === 404)
    throw refuse(`there is no public model ${repository}`, 'Check its name: owner/model, as on its page.');
  if (!response.ok) throw wrong(repository, `the server answers ${response.status}`);
  let text = '';
  const decoder = new TextDecoder();
  const reader = response.body?.getReader(); // Safari cannot iterate a stream
  for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
    text += decoder.decode(piece.value, { stream: true });
    if (text.length <= MAX_LIST_BYTES) continue;
    await reader?.cancel();
    throw wrong(repository, 'it is too long');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(repository, 'it is not JSON');
  }
};

const shortText = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w .,()+-]{1,60}$/.test(value) ? value : null;

/** Looks a model up: one request for the list of its files. */
export const findModel = async (text: string, { hub = HUB, signal }: FindOptions = {}): Promise<FoundModel> => {
  const repository = repositoryOf(text, hub);
  if (repository === null) throw refuse(`${text} is not the name of a model`, 'A name is owner/model, as on its page.');
  const answer = await fetchList(`${hub}/api/models/${repository}?blobs=true`, repository, signal);
  if (!isObject(answer)) throw wrong(repository, 'it is not an object');
  const [chosen, why, others] = choose(repository, readFiles(repository, answer.siblings));
  const addressOf = ({ name }: Listed): string =>
    `${hub}/${repository}/resolve/main/${name.split('/').map(encodeURIComponent).join('/')}`;
  const card = isObject(answer.cardData) ? answer.cardData : {};
  return {
    address: addressOf(chosen),
    file: chosen.name || repository,
    bytes: chosen.bytes,
    why,
    licence: shortText(card.license_name) ?? shortText(card.license),
    gated: answer.gated !== undefined && answer.gated !== false,
    others: others.map((other) => ({ file: other.name, address: addressOf(other), bytes: other.bytes })),
  };
};
