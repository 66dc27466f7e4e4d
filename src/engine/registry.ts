// The models on the device, by role. What a load asks for again, unchanged, stays where it is: a drafter joins a target
// without moving the target's weights a second time. The rest is freed first, so that two targets never share the memory.

import type { AlsoRole, ModelRole } from '../decode/core/system.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Store } from '../weights/files/store.ts';
import type { Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { bundledSource } from './bundled.ts';
import {
  type LoadedModels,
  type LoadSourceOptions,
  loadSource,
  type OnnxProvider,
  type Progress,
} from './load/language-model.ts';
import { checkVocabulary } from './load/vocabulary.ts';
import type { LoadOptions, ModelSource, ModelSources } from './sources.ts';

interface Resident {
  readonly source: Source | object;
  readonly precision: Precision | undefined;
  readonly onnx?: OnnxProvider | undefined;
  /** Null: loaned by the caller, who frees it. */
  readonly owned: Disposable | null;
}

export type RegistryOptions = Omit<LoadOptions, 'cache'>;

/** Across a worker's border objects are copied, so files are known by what can be seen of them. */
const sameSource = (a: Source | object, b: Source | object): boolean => {
  if (a === b) return true;
  if (!('kind' in a && 'kind' in b)) return false;
  if (a.kind === 'url' && b.kind === 'url') return a.url === b.url;
  if (a.kind !== 'files' || b.kind !== 'files' || a.files.length !== b.files.length) return false;
  const { files } = b;
  return a.files.every(({ name, size, lastModified }, i) => {
    const other = files[i];
    return other?.name === name && other.size === size && other.lastModified === lastModified;
  });
};

/** They read hidden states or answers of the target that they were loaded for, and borrow its vocabulary. */
const READERS = ['dflash', 'eagle3', 'prm', 'router'] as const;

/** What is no language model, and not a remote target. */
const BESIDE = [...READERS, 'policy', 'sentences'] as const;

const precisionOf = (role: ModelRole, { precision }: RegistryOptions): Precision | undefined =>
  typeof precision === 'object' ? precision[role] : precision;

/** Roles of models that write beside the target, in the vocabulary that it has. */
const isWriter = (role: string): role is 'draft' | AlsoRole => role === 'draft' || role.startsWith('also-');

export class ModelRegistry {
  /** Opened by the first load from an address. */
  store: Store | undefined;
  models: LoadedModels = {};
  readonly #entries = new Map<ModelRole, Resident>();
  readonly #device: () => Promise<Gpu>;
  readonly #base: string | undefined;

  /** `base`: where bundled models are served. */
  constructor(device: () => Promise<Gpu>, base: string | undefined) {
    this.#device = device;
    this.#base = base;
  }

  /** Afterwards exactly these are there; after a failure, nothing. */
  async load(sources: ModelSources, options: RegistryOptions): Promise<void> {
    try {
      this.#freeOthers(sources, options);
      await this.#loadMissing(sources, options);
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  /** Drafters before their target. */
  clear(): void {
    for (const role of [...this.#entries.keys()].reverse()) this.#free(role);
  }

  #freeOthers(sources: ModelSources, options: RegistryOptions): void {
    const stays = (role: ModelRole): boolean => {
      const [held, from] = [this.#entries.get(role), sources[role]];
      if (!held || from === undefined || held.precision !== precisionOf(role, options)) return false;
      if (held.onnx !== options.onnx && BESIDE.some((each) => each === role)) return false; // may be an ONNX file
      return (
        sameSource(held.source, this.resolve(from)) && (!READERS.some((reader) => reader === role) || stays('target'))
      );
    };
    for (const role of [...this.#entries.keys()].reverse().filter((each) => !stays(each))) this.#free(role);
  }

  #free(role: ModelRole): void {
    this.#entries.get(role)?.owned?.[Symbol.dispose]();
    this.#entries.delete(role);
    const { [role]: _, ...others } = this.models;
    this.models = others;
  }

  /** The target comes first: the others are made for it, or held against it. */
  async #loadMissing(sources: ModelSources, options: RegistryOptions): Promise<void> {
    const { target, remote } = sources;
    const there = this.models;
    if (target !== undefined)
      this.#put({ target: await this.#one('target', there.target, target, options, loadSource) });
    for (const role of Object.keys(sources).filter(isWriter)) {
      const from = sources[role];
      if (from === undefined) continue;
      const loaded = await this.#one(role, there[role], from, options, loadSource);
      if (this.models.target) checkVocabulary(this.models.target, loaded);
      this.#put({ [role]: loaded });
    }
    if (remote !== undefined) {
      const open = async () =>
        'kind' in remote ? (await import('../remote/remote-target.ts')).openRemote(remote) : remote;
      this.#put({ remote: await open() });
      this.#entries.set('remote', { source: remote, precision: undefined, owned: null });
    }
    if (!BESIDE.some((role) => sources[role] !== undefined)) return;
    const { loadAuxiliary } = await import('./load/auxiliary.ts');
    await loadAuxiliary(sources, {
      models: () => this.models,
      put: (models) => this.#put(models),
      one: (role, known, from, load) => this.#one(role, known, from, options, load),
      far: (role, source) => this.#entries.set(role, { source, precision: undefined, owned: null }),
    });
  }

  #put(models: LoadedModels): void {
    this.models = { ...this.models, ...models };
  }

  /** Kept downloads; opened when the first is asked for. */
  async openStore(): Promise<Store> {
    this.store ??= await (await import('../weights/files/store.ts')).openBrowserStore();
    return this.store;
  }

  resolve<Model extends object>(from: ModelSource<Model>): Source | Model {
    return typeof from === 'string' ? bundledSource(from, this.#base) : from;
  }

  async #one<Model extends { readonly model: Disposable }>(
    role: ModelRole,
    there: Model | undefined,
    from: ModelSource<Model>,
    options: RegistryOptions,
    load: (gpu: Gpu, source: Source, options: LoadSourceOptions) => Promise<Model>,
  ): Promise<Model> {
    if (there) return there;
    const { onProgress, signal, onnx } = options;
    const precision = precisionOf(role, options);
    const source = this.resolve(from);
    if ('model' in source) {
      this.#entries.set(role, { source, precision, owned: null });
      return source;
    }
    const tell = onProgress && ((progress: Progress): void => onProgress({ role, ...progress }));
    if (source.kind === 'url') await this.openStore();
    const loaded = await load(await this.#device(), source, {
      precision,
      onnx,
      signal,
      store: this.store,
      onProgress: tell,
    });
    this.#entries.set(role, { source, precision, onnx, owned: loaded.model });
    return loaded;
  }
}
