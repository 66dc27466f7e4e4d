// The loaded models, by role. A model that the next load asks for again stays on the device: a drafter joins a target
// without moving the target's weights again. All others are freed first, so that two targets never share the memory.
import { checkAborted, OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { AlsoRole, ModelRole } from '../decode/core/system.ts';
import { CALIBRATION_FILE } from '../decode/steps/calibration.ts';
import type { Gpu } from '../gpu/device.ts';
import { exposedKey } from '../remote/address.ts';
import { openRemoteJudge } from '../remote/remote-judge.ts';
import { openRemote } from '../remote/remote-target.ts';
import type { RemoteJudge } from '../remote/server.ts';
import { askToPersist } from '../weights/files/persist.ts';
import { openBrowserStore, type Store } from '../weights/files/store.ts';
import type { Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { bundledSource } from './bundled.ts';
import { withDigests } from './bundled-digests.ts';
import { asKind, DRAFTER_KINDS, type DrafterKind, loadDrafterSource } from './load/drafter.ts';
import { loadJudgeSource } from './load/judge.ts';
import { loadSource } from './load/language-model.ts';
import {
  type LoadedJudge,
  type LoadedModel,
  type LoadedModels,
  type LoadSourceOptions,
  type OnnxProvider,
  readerOf,
} from './load/loaded-models.ts';
import { loadPolicySource, loadSentencesSource } from './load/networks.ts';
import { TextTarget } from './load/text-target.ts';
import { checkVocabulary } from './load/vocabulary.ts';
import type { LoadOptions, ModelSource, ModelSources } from './sources.ts';

interface Entry {
  readonly source: Source | object;
  readonly precision: Precision | undefined;
  readonly onnx: OnnxProvider | undefined;
  /** Of a judge: the model whose tokens or hidden states it reads. */
  readonly reader?: LoadedModel | undefined;
  /** Freed with the entry. Null: the caller owns it, or it is on another machine. */
  readonly owned: Disposable | null;
}

type Local = Exclude<ModelRole, 'remote'>;
type Loader<Model> = (gpu: Gpu, source: Source, options: LoadSourceOptions) => Promise<Model>;

/** They read the hidden states or the answers of the target that they were loaded for, so they go when it goes. */
const BOUND_TO_TARGET: readonly ModelRole[] = [...DRAFTER_KINDS, 'prm', 'router'];

/** Their file may be an ONNX network. */
const MAY_BE_ONNX: readonly ModelRole[] = [...BOUND_TO_TARGET, 'policy', 'sentences'];

const GIVES = { prm: 'reward', router: 'advantage' } as const;

/** Roles of models that write together with the target, in its vocabulary. */
const isWriter = (role: string): role is 'draft' | AlsoRole => role === 'draft' || role.startsWith('also-');

const isRemoteJudge = (from: RemoteJudge | ModelSource<LoadedJudge>): from is RemoteJudge =>
  typeof from === 'object' && 'kind' in from && from.kind === 'remote-judge';

/** The precision that these options ask for. */
export const precisionOf = (role: ModelRole, { precision }: Pick<LoadOptions, 'precision'>): Precision | undefined =>
  typeof precision === 'object' ? precision[role] : precision;

/** Objects are copied on their way to a worker, so files are compared by name, size and date. */
export const sameSource = (a: Source | object, b: Source | object): boolean => {
  if (a === b) return true;
  if (!('kind' in a && 'kind' in b)) return false;
  if (a.kind === 'url' && b.kind === 'url') return a.url === b.url;
  if (a.kind !== 'files' || b.kind !== 'files' || a.files.length !== b.files.length) return false;
  const { files } = b;
  // A FileList, which an input has, is no array.
  return [...a.files].every(({ name, size, lastModified }, i) => {
    const other = files[i];
    return other?.name === name && other.size === size && other.lastModified === lastModified;
  });
};

export class ModelRegistry {
  /** Opened by the first call that needs it. */
  store: Store | undefined;
  #opening: Promise<Store> | null = null;
  models: LoadedModels = {};
  readonly #entries = new Map<ModelRole, Entry>();
  /** The device that the models are on; null where none of them is on one. */
  #gpu: Gpu | null = null;
  #loaded: { readonly sources: ModelSources; readonly options: LoadOptions } | null = null;
  /** They were lost with their device, and loading them again failed or was aborted: the next run tries it anew. */
  #unrestored = false;
  readonly #device: () => Promise<Gpu>;
  readonly #base: string | undefined;

  /** `base`: where bundled models are served. */
  constructor(device: () => Promise<Gpu>, base: string | undefined) {
    this.#device = device;
    this.#base = base;
  }

  /** Afterwards exactly these are loaded; after a failure, nothing is. */
  async load(sources: ModelSources, options: LoadOptions): Promise<void> {
    this.#loaded = null;
    try {
      if (this.lost) this.clear();
      this.#freeOthers(sources, options);
      await this.#loadMissing(sources, options);
      this.#loaded = { sources, options };
      this.#unrestored = false;
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  /** What the models were loaded from: the same object after a reload. Null while others are being loaded. */
  get sources(): ModelSources | null {
    return this.#loaded?.sources ?? null;
  }

  /** The models' device is lost, and they with it. */
  get lost(): boolean {
    return this.#unrestored || Boolean(this.#gpu?.failure);
  }

  /** Loads the same models again. Throws the device's failure where one of them was the caller's, on the lost device. */
  async reload(signal: AbortSignal): Promise<void> {
    const loaded = this.#loaded;
    const lent = Object.values(loaded?.sources ?? {}).some(
      (from) => typeof from === 'object' && 'model' in from && !('kind' in from),
    );
    if (!loaded || lent) throw this.#gpu?.failure ?? refuse('no model was loaded');
    const { onProgress: _, ...options } = loaded.options;
    try {
      await this.load(loaded.sources, { ...options, signal });
    } catch (error) {
      this.#loaded = loaded;
      this.#unrestored = true;
      throw error;
    }
  }

  /** Frees drafters before their target. */
  clear(): void {
    this.#freeTextTarget();
    for (const role of [...this.#entries.keys()].reverse()) this.#free(role);
    this.#gpu = null;
    this.#unrestored = false;
  }

  /** The store of kept downloads. */
  async openStore(): Promise<Store> {
    this.#opening ??= openBrowserStore();
    this.store = await this.#opening;
    return this.store;
  }

  resolve<Model extends object>(from: ModelSource<Model>): Source | Model {
    return withDigests(typeof from === 'string' ? bundledSource(from, this.#base) : from);
  }

  #freeOthers(sources: ModelSources, options: LoadOptions): void {
    this.#freeTextTarget();
    const stays = (role: ModelRole): boolean => {
      const [entry, from] = [this.#entries.get(role), sources[role]];
      if (!entry || from === undefined || entry.precision !== precisionOf(role, options)) return false;
      if (entry.onnx !== options.onnx && MAY_BE_ONNX.includes(role)) return false;
      return sameSource(entry.source, this.resolve(from)) && (!BOUND_TO_TARGET.includes(role) || stays('target'));
    };
    for (const role of [...this.#entries.keys()].reverse().filter((each) => !stays(each))) this.#free(role);
  }

  /** It has a cache of its own on the target, and is made anew with every load. */
  #freeTextTarget(): void {
    const { textTarget, ...others } = this.models;
    textTarget?.[Symbol.dispose]();
    this.models = others;
  }

  #free(role: ModelRole): void {
    this.#entries.get(role)?.owned?.[Symbol.dispose]();
    this.#entries.delete(role);
    const { [role]: _, ...others } = this.models;
    this.models = others;
  }

  /** The target comes first: the others are made for it, or checked against it. */
  async #loadMissing(sources: ModelSources, options: LoadOptions): Promise<void> {
    await this.#loadOne('target', sources.target, options, loadSource);
    for (const role of Object.keys(sources).filter(isWriter)) {
      await this.#loadOne(role, sources[role], options, loadSource);
      const { target, [role]: writer } = this.models;
      if (target && writer) this.#checkWriter(role, target, writer, options);
    }
    await this.#readCalibration(options);
    const { remote } = sources;
    if (remote) this.#put('remote', 'kind' in remote ? openRemote(remote) : remote, remote);
    const { target, draft, textTarget } = this.models;
    if (remote && textTarget)
      throw refuse(
        `${draft?.name} has another vocabulary than ${target?.name}, so both exchange texts; a remote target would be a second`,
        'Load one target: this one or the remote one.',
      );
    await this.#loadOne('dflash', sources.dflash, options, this.#drafter('dflash'));
    await this.#loadOne('dspark', sources.dspark, options, this.#drafter('dspark'));
    await this.#loadOne('eagle3', sources.eagle3, options, this.#drafter('eagle3'));
    await this.#loadOne('mtp', sources.mtp, options, this.#drafter('mtp'));
    await this.#loadOne('policy', sources.policy, options, (_, source, how) => loadPolicySource(source, how));
    this.#checkPolicy();
    await this.#loadOne('sentences', sources.sentences, options, (_, source, how) => loadSentencesSource(source, how));
    for (const role of ['prm', 'router'] as const) await this.#loadJudge(role, sources[role], options);
  }

  /** Read with the draft, so that no run has to. A damaged file fails the runs that need it, and no load. */
  async #readCalibration({ signal }: LoadOptions): Promise<void> {
    try {
      await this.models.draft?.sidecar?.read(CALIBRATION_FILE, signal);
    } catch {
      checkAborted(signal);
    }
  }

  /** A draft of another vocabulary serves step systems: they exchange texts with the target. */
  #checkWriter(role: string, target: LoadedModel, writer: LoadedModel, { vocabularies, cache }: LoadOptions): void {
    try {
      checkVocabulary(target, writer);
    } catch (mismatch) {
      if (vocabularies !== 'own' || role !== 'draft' || !target.tokenizer || !writer.tokenizer) throw mismatch;
      this.models = { ...this.models, textTarget: new TextTarget(target, target.tokenizer, cache) };
    }
  }

  /** A policy reads the target's logits. */
  #checkPolicy(): void {
    const { policy, target } = this.models;
    if (!policy || !target || policy.model.vocabulary === target.model.vocabulary) return;
    throw new OutriderError(
      'vocabulary-mismatch',
      `${policy.name} reads ${policy.model.vocabulary} logits, and ${target.name} has ${target.model.vocabulary}`,
      'Load the block-size policy that was trained for this target.',
    );
  }

  #drafter<Kind extends DrafterKind>(kind: Kind) {
    return async (gpu: Gpu, source: Source, how: LoadSourceOptions) =>
      asKind(await loadDrafterSource(gpu, source, this.#need(`a ${kind} drafter`, this.models.target), how), kind);
  }

  async #loadJudge(
    role: 'prm' | 'router',
    from: RemoteJudge | ModelSource<LoadedJudge> | undefined,
    options: LoadOptions,
  ): Promise<void> {
    const { textTarget, draft } = this.models;
    const known = textTarget ? draft : readerOf(this.models);
    const reader = (): LoadedModel => this.#need('a judge', known);
    const read = (): LoadedModel | undefined => (this.models[role]?.model.readsDraft ? draft : known);
    if (this.#entries.get(role)?.reader !== read()) this.#free(role); // it stayed, and was made for another model
    if (from && isRemoteJudge(from))
      this.#put(
        role,
        {
          name: from.model,
          model: openRemoteJudge(from, reader(), GIVES[role]),
          notice: exposedKey(from) ?? undefined,
        },
        from,
      );
    else
      await this.#loadOne(role, from, options, (gpu, source, how) =>
        loadJudgeSource(gpu, source, { ...how, target: reader(), draft, gives: GIVES[role] }),
      );
    const entry = this.#entries.get(role);
    if (entry) this.#entries.set(role, { ...entry, reader: read() });
  }

  /** Loads what is asked for and not there yet. */
  async #loadOne<Role extends Local>(
    role: Role,
    from: ModelSource<NonNullable<LoadedModels[Role]>> | undefined,
    options: LoadOptions,
    load: Loader<NonNullable<LoadedModels[Role]>>,
  ): Promise<void> {
    if (from === undefined || this.models[role]) return;
    const { onProgress, signal, onnx } = options;
    const precision = precisionOf(role, options);
    const source = this.resolve(from);
    if ('model' in source) return this.#put(role, source, source, { precision });
    if (source.kind === 'url') await this.openStore();
    const gpu = await this.#device();
    // Lost between two models, a device is replaced: the first would be on one that is gone.
    if (this.#gpu?.failure && this.#gpu !== gpu) throw this.#gpu.failure;
    this.#gpu = gpu;
    const loaded = await load(gpu, source, {
      precision,
      onnx,
      signal,
      store: this.store,
      onProgress: onProgress && ((progress) => onProgress({ role, ...progress })),
    });
    this.#put(role, loaded, source, { precision, onnx, owned: loaded.model });
    if (source.kind === 'url') void askToPersist();
  }

  #put<Role extends ModelRole>(
    role: Role,
    model: NonNullable<LoadedModels[Role]>,
    source: object,
    { precision, onnx, owned = null }: Partial<Entry> = {},
  ): void {
    this.#entries.set(role, { source, precision, onnx, owned });
    this.models = { ...this.models, [role]: model };
  }

  #need(what: string, model: LoadedModel | undefined): LoadedModel {
    if (model) return model;
    throw refuse(`${what} needs its target`, 'Load the target together with it.');
  }
}
