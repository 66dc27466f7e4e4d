// One engine in a worker, and the models in it: what is wanted, what is on the device, what is on its way there. Loads are
// made here and nowhere else; whoever shows or runs something hears of them.
import {
  connect,
  type Engine,
  type Fault,
  type Loaded,
  type LoadOptions,
  type ModelRole,
  type RunRequest,
} from '../src/index.ts';
import type { TraceEvent } from '../src/trace/index.ts';
import { firstChoice, markBundled, startModels } from './models/bundled-models.ts';
import { MemberChoice } from './models/ensemble-members.ts';
import { type Choice, Family, isAlso, type ModelNames, mayBeOnnx, namesOf, roleName } from './models/family.ts';
import type { FitView } from './models/fit-view.ts';
import { LoadingView } from './models/loading-view.ts';
import type { OwnModels } from './models/own-models.ts';
import { element, megabytes, say } from './shared/elements.ts';
import { hideFault, showFault } from './shared/faults.ts';
import type { CalibrationView } from './systems/calibration-view.ts';
import { SystemPicker } from './systems/system-picker.ts';

export interface Listener {
  /** Nothing can run from here on, until `ready`. */
  loading(): void;
  ready(loaded: Loaded): void;
  /** Other models come: what was measured was measured on those before. */
  forget(): void;
  /** A load has failed. */
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

const describe = (loaded: Loaded, seconds: number): string => {
  const { models, notice } = loaded;
  const gpu = nameOf(loaded);
  const software = /swiftshader|llvmpipe/i.test(gpu) ? ' (software)' : '';
  const bytes = Object.values(models).reduce((sum, model) => sum + model.bytes, 0);
  const weights = models.target ? `; ${models.target.family}, ${megabytes(bytes)} on the device` : '';
  return `${gpu}${software}${weights}, ready in ${seconds.toFixed(1)} s${notice ? `. ${notice}` : ''}`;
};

export class Session {
  readonly engine: Engine = connect();
  readonly systems = new SystemPicker(() => void this.#systemChanged());
  readonly #members = new MemberChoice((chosen) => void this.#membersChanged(chosen));
  readonly #loading = new LoadingView();
  readonly #precision = element('precision', HTMLSelectElement);
  readonly #onnx = element('onnx', HTMLSelectElement);
  readonly #listener: Listener;
  readonly own: OwnModels;
  /** What it runs on. */
  device = '';
  #family: Family;
  /** Of what is loaded: a trace takes them along. */
  #names: ModelNames = {};
  /** On the device, or on their way there. */
  #roles: readonly ModelRole[] = [];
  #load: AbortController | null = null;
  #weighing: AbortController | null = null;
  #fit: FitView | null = null;
  #calibration: CalibrationView | null = null;
  /** Ends whatever runs when models change. */
  #interrupt = new AbortController();

  constructor(listener: Listener) {
    this.#listener = listener;
    this.own = startModels((choice, role) => void this.#chosen(choice, role));
    this.#family = new Family(firstChoice());
    this.#precision.addEventListener('change', () => void this.#targetChanged());
    this.#onnx.addEventListener('change', () => void this.#onnxChanged());
  }

  /** Loads what the page opened with. */
  async start(): Promise<void> {
    const { target } = this.#family;
    if (typeof target.source === 'string') await this.#targetChanged();
    else await this.#chosen(target, 'target');
  }

  /** A load of other models aborts it too. */
  async *run(request: RunRequest, signal: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    for await (const event of this.engine.run(request, AbortSignal.any([signal, this.#interrupt.signal])))
      yield event.type === 'run' ? { ...event, models: this.#names } : event;
  }

  /** A run has found the device gone. */
  lost(): void {
    this.#listener.loading();
    this.gone('The device was lost: choose a model to load it again.', 'No model is loaded');
  }

  /** Nothing is loaded any more, and nothing can be: `why` stands where the progress was. */
  gone(why: string, device?: string): void {
    this.#roles = [];
    this.#loading.finish(why, false);
    if (device) say('device', device);
    lamp('off');
  }

  /** A model of the visitor's own is loaded when it is known to fit, or they want it all the same. */
  async #chosen(choice: Choice, role: ModelRole): Promise<void> {
    const family = this.#family.with(role, choice);
    if (typeof choice.source !== 'string' && !(await this.#fits(family, role, choice.label))) return;
    this.#family = family;
    if (role === 'target') return this.#targetChanged();
    this.#roles = this.#roles.filter((each) => each !== role);
    this.systems.offer(this.#family);
    this.#showMembers();
    return this.#bring([role], choice.label);
  }

  /** What it would take, from headers: what is loaded stays until that is known. */
  async #fits(family: Family, role: ModelRole, label: string): Promise<boolean> {
    hideFault();
    this.#weighing?.abort();
    const abort = new AbortController();
    this.#weighing = abort;
    try {
      this.#fit ??= new (await import('./models/fit-view.ts')).FitView();
      this.#fit.hide();
      const signal = AbortSignal.any([abort.signal, this.#loading.start(label, [role])]);
      const roles = role === 'target' ? family.rolesOf(this.systems.system) : this.#roles;
      const found = await this.engine.preflight(family.sources(this.systems.system, [...roles, role]), {
        ...this.#bits,
        signal,
      });
      if (this.#weighing !== abort) return false;
      this.#loading.finish('Nothing is downloaded yet', false);
      const go = await this.#fit.ask(found);
      if (!go && this.#weighing === abort) this.#refused('Left as it was');
      return go;
    } catch (error) {
      if (this.#weighing !== abort) return false;
      const fault = showFault(error);
      this.#refused(fault.code === 'aborted' ? 'Cancelled' : 'Not loaded');
      await this.#listener.failed(fault);
      return false;
    }
  }

  #refused(why: string): void {
    markBundled(this.#family.target);
    const kept = this.#roles.length > 0 ? ': the models that were there still are' : '. Choose a model to load one.';
    this.#loading.finish(`${why}${kept}`, false);
  }

  get #bits(): Pick<LoadOptions, 'precision'> {
    const bits = this.#precision.value as '' | Extract<LoadOptions['precision'], string>;
    return bits ? { precision: bits } : {};
  }

  #showMembers(): void {
    this.#members.show(this.systems.system.joins ?? false, this.#family);
  }

  /** A new target brings its own drafters, or none. */
  #targetChanged(): Promise<void> {
    this.#roles = [];
    markBundled(this.#family.target);
    this.#listener.forget();
    this.systems.offer(this.#family);
    this.#showMembers();
    return this.#bring(this.#family.rolesOf(this.systems.system), this.#family.target.label);
  }

  /** Judges that are there are loaded anew; the other models stay. */
  async #onnxChanged(): Promise<void> {
    const judges = this.#roles.filter(mayBeOnnx);
    if (judges.length > 0) await this.#bring(judges, judges.map((role) => `the ${roleName(role)}`).join(' and '));
  }

  #membersChanged(chosen: readonly Choice[]): Promise<void> {
    this.#family.join(chosen);
    this.#roles = this.#roles.filter((role) => !isAlso(role));
    this.#listener.forget();
    return this.#bring(this.#family.rolesOf(this.systems.system), 'the models of the ensemble');
  }

  /** What the system needs is loaded when it is first chosen. */
  async #systemChanged(): Promise<void> {
    this.#showMembers();
    const added = this.#family.rolesOf(this.systems.system).filter((role) => !this.#roles.includes(role));
    if (added.length > 0) await this.#bring(added, added.map((role) => `the ${roleName(role)}`).join(' and '));
    else await this.#offerCalibration();
  }

  async #offerCalibration(): Promise<void> {
    const wanted = this.systems.system.id === 'specguard' && this.#roles.includes('draft');
    if (wanted) this.#calibration ??= new (await import('./systems/calibration-view.ts')).CalibrationView(this);
    this.#calibration?.show(wanted);
  }

  /** What runs is stopped, and a load before it is cancelled; models that are there and still wanted stay. */
  async #bring(added: readonly ModelRole[], label: string): Promise<void> {
    this.#interrupt.abort();
    this.#interrupt = new AbortController();
    this.#load?.abort();
    const abort = new AbortController();
    this.#load = abort;
    this.#listener.loading();
    this.#calibration?.show(false);
    hideFault();
    lamp('busy');
    const signal = AbortSignal.any([abort.signal, this.#loading.start(label, added)]);
    const sources = this.#family.sources(this.systems.system, this.#roles);
    this.#roles = Object.keys(sources) as ModelRole[];
    const began = performance.now();
    try {
      const onProgress: NonNullable<LoadOptions['onProgress']> = (progress) => this.#loading.show(progress);
      const onnx = this.#onnx.value as NonNullable<LoadOptions['onnx']>;
      const loaded = await this.engine.load(sources, { ...this.#bits, onnx, signal, onProgress });
      if (this.#load !== abort) return;
      const names = added.map(
        (role) => (role === 'target' && loaded.models.target?.name) || roleName(role, namesOf(loaded)),
      );
      this.#loading.finish(`Ready: ${names.join(', ')}`, true);
      say('device', describe(loaded, (performance.now() - began) / 1000));
      this.device = nameOf(loaded);
      this.#names = namesOf(loaded);
      this.systems.fit(loaded);
      lamp('ready');
      this.#listener.ready(loaded);
      await this.#offerCalibration();
    } catch (error) {
      if (this.#load !== abort) return;
      const fault = showFault(error);
      const cancelled = fault.code === 'aborted';
      this.gone(cancelled ? 'Cancelled. Choose a model or a system to load one.' : 'Not loaded', 'No model is loaded');
      await this.#listener.failed(fault);
    }
  }
}
