// The page's engine, which runs in a worker, and its models: which are wanted, loaded or loading. Every load of the
// demo page starts here; the listener is told when one starts, ends or fails.
import {
  type ChatMessage,
  connect,
  type Engine,
  type Fault,
  type Loaded,
  type LoadOptions,
  type ModelInfo,
  type ModelRole,
  type RunRequest,
  SYSTEMS,
} from '../src/index.ts';
import type { TraceEvent } from '../src/trace/index.ts';
import { firstChoice, kindOf, markBundled, startModels, unmarkBundled, wholeFamily } from './models/bundled-models.ts';
import type { ModelPick } from './models/catalogue-view.ts';
import { MemberChoice } from './models/ensemble-members.ts';
import {
  type Choice,
  Family,
  isAlso,
  type ModelNames,
  mayBeOnnx,
  namesOf,
  OWN_MTP_LAYER,
  roleName,
} from './models/family.ts';
import { FitView } from './models/fit-view.ts';
import { JudgeChoice } from './models/judge-choice.ts';
import { LoadingView } from './models/loading-view.ts';
import { ModelsPanel } from './models/models-panel.ts';
import type { OwnModels } from './models/own-models.ts';
import type { Remembered } from './models/remembered-model.ts';
import { StoredView } from './models/stored-view.ts';
import { element, megabytes, say } from './shared/elements.ts';
import { cacheName, hideFault, type Offer, onOffer, showFault } from './shared/faults.ts';
import { withLavapipe } from './shared/words.ts';
import { CalibrationView } from './systems/calibration-view.ts';
import { SystemPicker } from './systems/system-picker.ts';

export interface Listener {
  /** A load has started: nothing can run until `ready`. */
  loading(): void;
  ready(loaded: Loaded): void;
  failed(fault: Fault): Promise<void>;
}

type Lamp = 'ready' | 'busy' | 'off';

const lamp = (state: Lamp): void => {
  element('lamp', HTMLElement).dataset.state = state;
};

const nameOf = ({ adapter }: Loaded): string => {
  const { vendor, architecture, description } = adapter ?? { vendor: 'GPU' };
  return description || [vendor, architecture].filter(Boolean).join(' ');
};

/** Firefox names no adapter. */
const deviceOf = (loaded: Loaded): string => {
  const name = nameOf(loaded);
  const software = loaded.adapter?.software ?? false;
  if (name === '') return software ? 'The processor in place of a GPU' : 'A GPU without a name';
  return software && !/llvmpipe/i.test(name) ? `${name} (software)` : withLavapipe(name);
};

const describe = (loaded: Loaded, choice: Choice, seconds: number): string => {
  const { models, notice } = loaded;
  const bytes = Object.values(models).reduce((sum, model) => sum + model.bytes, 0);
  const weights = models.target ? `; ${kindOf(choice, models.target.family)}; ${megabytes(bytes)} in GPU memory` : '';
  return `${deviceOf(loaded)}${weights}, loaded in ${seconds.toFixed(1)} s${notice ? `. ${notice}` : ''}`;
};

/** What is loaded with a target, the system that suits it, what loads it again, and whether the form asked for it. */
type Along = Partial<Omit<ModelPick, 'target'>> & { readonly asked?: boolean };
const ALONE: Along = {};

/** Files and servers cannot be opened again without the visitor. */
const addressOf = ({ source }: Choice): Remembered | null =>
  typeof source === 'object' && 'kind' in source && source.kind === 'url' ? { kind: 'address', url: source.url } : null;

export class Session {
  readonly engine: Engine = connect();
  readonly systems = new SystemPicker(() => void this.#systemChanged());
  readonly #members = new MemberChoice((chosen) => void this.#membersChanged(chosen));
  readonly #judges = new JudgeChoice((judge) => void this.#chosen(judge, 'prm'));
  readonly #loading = new LoadingView();
  readonly #precision = element('precision', HTMLSelectElement);
  readonly #onnx = element('onnx', HTMLSelectElement);
  readonly #listener: Listener;
  readonly own: OwnModels;
  /** Name of the GPU; null: not known yet. Firefox names none. */
  #device: string | null = null;
  /** This browser has no WebGPU: nothing can be loaded. */
  withoutWebGpu = false;
  #family: Family;
  /** Names of the loaded models, which every trace carries. */
  #names: ModelNames = {};
  /** Keys and values as f16, once a run had no memory for more. */
  #cache: NonNullable<LoadOptions['cache']> = 'f32';
  /** Roles of the models that are loaded or loading. */
  #roles: readonly ModelRole[] = [];
  /** Of the load under way. */
  #loadAbort: AbortController | null = null;
  #preflight: AbortController | null = null;
  readonly #fit = new FitView();
  readonly panel = new ModelsPanel({
    load: (pick) => this.choose(pick),
    add: (role, choice) => void this.#chosen(choice, role, choice === OWN_MTP_LAYER ? { system: 'mtp' } : ALONE),
    loadBundled: () => void this.#chosen(wholeFamily(), 'target'),
    openForm: (role) => this.own.open(role),
    memory: () =>
      this.engine.preflight({}).then(
        ({ limits }) => limits.memory,
        () => null, // there is no WebGPU
      ),
  });
  /** What loads the target again on the next visit. */
  #remembered: Remembered | null = null;
  /** Where errors of the current load are shown: next to the form that began it, or at the top of the page. */
  #form: HTMLElement | undefined;
  readonly #stored = new StoredView(this.engine);
  readonly #calibration = new CalibrationView(this.engine);
  /** Ends the current run when models change. */
  #interrupt = new AbortController();

  constructor(listener: Listener) {
    this.#listener = listener;
    this.own = startModels((choice, role) => void this.#chosen(choice, role, { asked: true }));
    this.#family = new Family(firstChoice());
    this.#precision.addEventListener('change', () => void this.#targetChanged());
    this.#onnx.addEventListener('change', () => void this.#onnxChanged());
    onOffer((offer) => void this.#accept(offer));
  }

  /** Loads a published model and what drafts for it. */
  choose({ target, partner, system, remember }: ModelPick): void {
    void this.#chosen(target, 'target', { partner, system, remember });
  }

  /** Name of the GPU. */
  get device(): string {
    return this.#device ?? '';
  }

  /** Names of the loaded models, by role. */
  get names(): ModelNames {
    return this.#names;
  }

  /** Loads the model that the page was opened with. */
  async start(): Promise<void> {
    const { target } = this.#family;
    if (typeof target.source === 'string') await this.#targetChanged();
    else await this.#chosen(target, 'target');
  }

  /** Starts a run, which a load of other models aborts as well. */
  async *run(request: RunRequest, signal: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    const signals = AbortSignal.any([signal, this.#interrupt.signal]);
    for await (const event of this.engine.run(request, signals))
      yield event.type === 'run' ? { ...event, models: this.#names } : event;
  }

  /** A run found that the device was lost. */
  lost(): void {
    this.#listener.loading();
    this.gone('The GPU was lost. Choose a model to load it again.', 'No model is loaded');
  }

  /** No model is loaded any more; `why` replaces the progress text. */
  gone(why: string, device?: string): void {
    this.#roles = [];
    unmarkBundled(); // so that the same one can be chosen again
    this.#loading.finish(why, false);
    if (device) say('device', device);
    lamp('off');
  }

  async #accept(offer: Offer): Promise<void> {
    if (offer === 'reload') return this.#targetChanged();
    if (offer.maxTokens) element('max-tokens', HTMLInputElement).value = `${offer.maxTokens}`;
    if (!offer.cache) return;
    this.#cache = offer.cache;
    await this.#load(this.#roles, cacheName(offer.cache));
  }

  /** What the engine told of the target that is loaded. */
  loadedTarget: Pick<ModelInfo, 'family' | 'bytes' | 'context' | 'text' | 'mtp'> | null = null;

  /** A model without a chat template continues the text: each message but an answer starts a paragraph of its own. */
  promptOf(messages: readonly ChatMessage[]): RunRequest['prompt'] {
    if (this.loadedTarget?.text !== 'raw') return { messages };
    const begins = ({ role }: ChatMessage, at: number): boolean => at > 0 && role !== 'assistant';
    return { text: messages.map((message, at) => (begins(message, at) ? '\n\n' : '') + message.content).join('') };
  }

  /** The chosen target. */
  get target(): Choice {
    return this.#family.target;
  }

  /** Loads a model of the visitor's own if it fits, or if they ask for it anyway. */
  async #chosen(choice: Choice, role: ModelRole, along: Along = ALONE): Promise<void> {
    const { partner, system, remember, asked } = along;
    // Made anew once the header is read: an ensemble's members may have been chosen meanwhile.
    const family = (): Family => {
      const chosen = this.#family.with(role, choice);
      return partner ? chosen.with(...partner) : chosen;
    };
    this.#preflight?.abort(); // what is chosen last counts
    this.#preflight = null;
    const own = choice === OWN_MTP_LAYER || typeof choice.source !== 'string';
    const form = element('by-address', HTMLFormElement);
    const near = asked && form.checkVisibility() ? form : element('models-form', HTMLElement); // a file may be dropped
    this.#form = own ? near : undefined;
    if (!own) this.#fit.hide();
    if (own && !(await this.#fits(family(), role, choice.label, partner?.[0]))) return;
    this.#family = family();
    if (role === 'target') {
      this.#remembered = remember ?? addressOf(choice);
      if (system) this.systems.prefer(system);
      return this.#targetChanged();
    }
    this.#roles = this.#roles.filter((each) => each !== role);
    this.systems.offer(this.#family);
    if (system) this.systems.prefer(system);
    this.#showChoices();
    return this.#load([role], choice.label);
  }

  /** Reads headers to see what the models would take. Loaded models stay until that is known. */
  async #fits(family: Family, role: ModelRole, label: string, partner?: ModelRole): Promise<boolean> {
    hideFault();
    const abort = new AbortController();
    this.#preflight = abort;
    try {
      this.#fit.hide();
      // While another load is under way, bar and Cancel are that load's.
      const cancelled = this.#loadAbort ? [] : [this.#loading.start(label, [role])];
      const signal = AbortSignal.any([abort.signal, ...cancelled]);
      const others = role === 'target' ? family.rolesOf(this.systems.system) : this.#roles;
      const roles = [...others, role, ...(partner ? [partner] : [])];
      const found = await this.engine.preflight(family.sources(this.systems.system, roles), {
        ...this.#precisionOption,
        signal,
      });
      if (this.#preflight !== abort) return false;
      if (!this.#loadAbort) this.#loading.finish('Nothing is downloaded yet', false);
      const go = await this.#fit.ask(found);
      if (!go && this.#preflight === abort) this.#keepCurrent('Nothing changed');
      return go;
    } catch (error) {
      if (this.#preflight !== abort) return false;
      const fault = showFault(error, this.#form);
      this.#keepCurrent(fault.code === 'aborted' ? 'Cancelled' : 'Not loaded');
      await this.#listener.failed(fault);
      return false;
    }
  }

  #keepCurrent(why: string): void {
    markBundled(this.#family.target);
    if (this.#loadAbort) return;
    const next = this.#roles.length > 0 ? 'The current models stay loaded.' : 'Choose a model to load one.';
    this.#loading.finish(`${why}. ${next}`, false);
  }

  get #precisionOption(): Pick<LoadOptions, 'precision'> {
    const bits = this.#precision.value as '' | Extract<LoadOptions['precision'], string>;
    return bits ? { precision: bits } : {};
  }

  /** Bundled models that may take another's place in the chosen system. */
  #showChoices(): void {
    this.#members.show(this.systems.system.joins ?? false, this.#family);
    this.#judges.show(this.systems.system, this.#family);
  }

  /** What the systems that cannot run need. Only Qwen3.5 has an MTP layer, in its own files or in one of the layer alone. */
  #offerModels(): void {
    const missing = new Set(SYSTEMS.flatMap((system) => this.#family.missing(system)));
    const { family, mtp = false } = this.loadedTarget ?? {};
    if (family !== 'qwen3_5') missing.delete('mtp');
    void this.panel.offer(this.#family.target, [...missing], mtp);
  }

  /** A new target has its own drafters, or none. */
  #targetChanged(): Promise<void> {
    this.#roles = [];
    this.loadedTarget = null;
    markBundled(this.#family.target);
    this.panel.leave();
    this.systems.offer(this.#family);
    this.#offerModels();
    this.#showChoices();
    return this.#load(this.#family.rolesOf(this.systems.system), this.#family.target.label);
  }

  /** Loads the judges again on the chosen ONNX runtime; the other models stay. */
  async #onnxChanged(): Promise<void> {
    const judges = this.#roles.filter(mayBeOnnx);
    if (judges.length > 0) await this.#load(judges, judges.map((role) => `the ${roleName(role)}`).join(' and '));
  }

  #membersChanged(chosen: readonly Choice[]): Promise<void> {
    this.#family.setMembers(chosen);
    this.#roles = this.#roles.filter((role) => !isAlso(role));
    return this.#load(this.#family.rolesOf(this.systems.system), 'the models of the ensemble');
  }

  /** Loads what the chosen system needs and is not loaded yet. */
  async #systemChanged(): Promise<void> {
    this.#showChoices();
    const added = this.#family.rolesOf(this.systems.system).filter((role) => !this.#roles.includes(role));
    if (added.length > 0) await this.#load(added, added.map((role) => `the ${roleName(role)}`).join(' and '));
    else this.#offerCalibration();
  }

  #offerCalibration(): void {
    this.#calibration.show(this.systems.system.calibrated === true && this.#roles.includes('draft'));
  }

  /** The device shows before the first models are downloaded: an estimate opens it, and a load of no models tells it. */
  async #findDevice(signal: AbortSignal): Promise<void> {
    await this.engine.preflight({}, { signal });
    const none = await this.engine.load({}, { signal });
    this.#device = nameOf(none);
    say('device', deviceOf(none));
  }

  /** Stops the current run and cancels an earlier load. Models that are loaded and still wanted stay. */
  async #load(added: readonly ModelRole[], label: string): Promise<void> {
    this.#interrupt.abort();
    this.#interrupt = new AbortController();
    this.#loadAbort?.abort();
    const abort = new AbortController();
    this.#loadAbort = abort;
    this.#listener.loading();
    this.#calibration.show(false);
    hideFault();
    lamp('busy');
    const signal = AbortSignal.any([abort.signal, this.#loading.start(label, added)]);
    const sources = this.#family.sources(this.systems.system, this.#roles);
    this.#roles = Object.keys(sources) as ModelRole[];
    const began = performance.now();
    try {
      if (this.#device === null) await this.#findDevice(signal);
      if (this.#loadAbort !== abort) return;
      const onProgress: NonNullable<LoadOptions['onProgress']> = (progress) => {
        if (this.#loadAbort === abort) this.#loading.show(progress); // the bar is that of the newest load
      };
      const onnx = this.#onnx.value as NonNullable<LoadOptions['onnx']>;
      const loaded = await this.engine.load(sources, {
        ...this.#precisionOption,
        cache: this.#cache,
        onnx,
        signal,
        onProgress,
      });
      if (this.#loadAbort !== abort) return;
      const names = [...new Set([...this.#family.rolesOf(this.systems.system), ...added])].map(
        (role) => (role === 'target' && loaded.models.target?.name) || roleName(role, namesOf(loaded)),
      );
      const cache = this.#cache === 'f32' ? '' : `, with ${cacheName(this.#cache)}`;
      this.#loading.finish(`Ready: ${names.join(', ')}${cache}`, true);
      say('device', describe(loaded, this.#family.target, (performance.now() - began) / 1000));
      this.#device = nameOf(loaded);
      this.#names = namesOf(loaded);
      this.loadedTarget = loaded.models.target ?? null;
      this.systems.fit(loaded);
      lamp('ready');
      await this.panel.showLoaded(loaded, this.#family.target, this.#remembered);
      if (this.#loadAbort !== abort) return;
      this.#offerModels();
      this.#listener.ready(loaded);
      this.#offerCalibration();
      void this.#stored.refresh();
    } catch (error) {
      if (this.#loadAbort !== abort) return;
      const fault = showFault(error, this.#form);
      const cancelled = fault.code === 'aborted';
      this.gone(cancelled ? 'Cancelled. Choose a model or a system to load one.' : 'Not loaded', 'No model is loaded');
      await this.#listener.failed(fault);
    } finally {
      if (this.#loadAbort === abort) this.#loadAbort = null;
    }
  }
}
