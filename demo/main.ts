// The page: a model, a decoding system, a problem, an answer. The engine runs in a worker, so nothing here ever computes;
// this file only decides what may be pressed when.
import { connect, type Loaded, type LoadOptions, type ModelRole, type RunRequest, SYSTEMS } from '../src/index.ts';
import { Comparison, type Rival } from './comparison.ts';
import { element, megabytes, say } from './elements.ts';
import { type Choice, Family, isAlso, roleName } from './family.ts';
import { hideFault, sentence, showFault } from './faults.ts';
import { LoadingView } from './loading.ts';
import { MemberChoice } from './members.ts';
import { firstChoice, startModels } from './models.ts';
import { Problems } from './problems.ts';
import { type Recording, recordings, replay } from './replay.ts';
import { RunView } from './run-view.ts';
import { SystemPicker } from './systems.ts';
import { startTheme } from './theme.ts';

const go = element('go', HTMLButtonElement);
const box = element('problem', HTMLTextAreaElement);
const precision = element('precision', HTMLSelectElement);
const problems = new Problems();
const view = new RunView();
const loading = new LoadingView();
const systems = new SystemPicker(() => void systemChanged());
const comparison = new Comparison(view, () => void work((signal) => comparison.race(signal)));
const members = new MemberChoice((chosen) => void membersChanged(chosen));
const engine = connect();

/** What the button starts, and tells whether it is to be compared at once; null while there is no model. */
let start: ((signal: AbortSignal) => Promise<boolean>) | null = null;
let running: AbortController | null = null;
let cancelLoad: AbortController | null = null;
let family: Family;
/** Roles on the device, or on their way there. */
let roles: readonly ModelRole[] = [];

const lamp = (state: 'ready' | 'busy' | 'off'): void => {
  element('lamp', HTMLElement).dataset.state = state;
};

const number = (id: string): number => element(id, HTMLInputElement).valueAsNumber || 0;

const request = (): RunRequest => ({
  prompt: { messages: [{ role: 'user', content: problems.question }] },
  maxTokens: number('max-tokens'),
  temperature: number('temperature'),
  seed: number('seed'),
});

const describe = ({ adapter, models, notice }: Loaded, seconds: number): string => {
  const { vendor, architecture, description } = adapter ?? { vendor: 'GPU' };
  const gpu = description || [vendor, architecture].filter(Boolean).join(' ');
  const software = /swiftshader|llvmpipe/i.test(gpu) ? ' (software)' : '';
  const bytes = Object.values(models).reduce((sum, model) => sum + model.bytes, 0);
  const weights = models.target ? `; ${models.target.family}, ${megabytes(bytes)} on the device` : '';
  return `${gpu}${software}${weights}, ready in ${seconds.toFixed(1)} s${notice ? `. ${notice}` : ''}`;
};

const runLive = async (signal: AbortSignal): Promise<boolean> => {
  const asked = request();
  const { id, guarantee, baseline = 'autoregressive' } = systems.system;
  const known = SYSTEMS.find((system) => system.id === baseline)?.knobs ?? {};
  const settings = Object.entries(systems.settings).filter(([name]) => Object.hasOwn(known, name));
  const plain: RunRequest = { ...asked, system: baseline, knobs: Object.fromEntries(settings) };
  const rival: Rival = {
    key: JSON.stringify(plain),
    greedy: asked.temperature === 0,
    exact: guarantee === 'exact',
    baseline,
    plain: (stop) => engine.run(plain, stop),
  };
  const run = await view.show(engine.run({ ...asked, system: id, knobs: systems.settings }, signal), problems.current);
  return comparison.offer(run, rival);
};

/** What runs is stopped, and a load before it is cancelled; models that are there and still wanted stay. */
const load = async (added: readonly ModelRole[], label: string): Promise<void> => {
  running?.abort();
  cancelLoad?.abort();
  const abort = new AbortController();
  cancelLoad = abort;
  start = null;
  go.disabled = true;
  hideFault();
  lamp('busy');
  const signal = AbortSignal.any([abort.signal, loading.start(label, added)]);
  const sources = family.sources(systems.system, roles);
  roles = Object.keys(sources) as ModelRole[];
  const began = performance.now();
  try {
    const bits = precision.value as '' | NonNullable<LoadOptions['precision']>;
    const loaded = await engine.load(sources, {
      ...(bits && { precision: bits }),
      signal,
      onProgress: (progress) => loading.show(progress),
    });
    if (cancelLoad !== abort) return;
    const names = added.map((role) => (role === 'target' && loaded.models.target?.name) || roleName(role));
    loading.finish(`Ready: ${names.join(', ')}`, true);
    say('device', describe(loaded, (performance.now() - began) / 1000));
    systems.fit(loaded);
    lamp('ready');
    start = runLive;
    go.disabled = false;
  } catch (error) {
    if (cancelLoad !== abort) return;
    roles = [];
    const fault = showFault(error);
    loading.finish(
      fault.code === 'aborted' ? 'Cancelled. Choose a model or a system to load one.' : 'Not loaded',
      false,
    );
    say('device', 'No model is loaded');
    lamp('off');
    if (fault.code === 'no-webgpu') await replayInstead(fault.message);
  }
};

const showMembers = (): void => members.show(systems.system.joins ?? false, family);

const membersChanged = (chosen: readonly Choice[]): Promise<void> => {
  family.join(chosen);
  roles = roles.filter((role) => !isAlso(role));
  comparison.forget();
  return load(family.rolesOf(systems.system), 'the models of the ensemble');
};

/** A new target brings its own drafters, or none. */
const targetChanged = (): Promise<void> => {
  roles = [];
  comparison.forget();
  systems.offer(family);
  showMembers();
  return load(family.rolesOf(systems.system), family.target.label);
};

/** What the system needs is loaded when it is first chosen. */
const systemChanged = async (): Promise<void> => {
  showMembers();
  const added = family.rolesOf(systems.system).filter((role) => !roles.includes(role));
  if (added.length > 0) await load(added, added.map((role) => `the ${roleName(role)}`).join(' and '));
};

const replayInstead = async (why: string): Promise<void> => {
  hideFault();
  element('no-webgpu', HTMLElement).hidden = false;
  say('no-webgpu-why', sentence(why));
  say('device', 'No WebGPU: a recording');
  loading.finish('Loading a model needs WebGPU', false);
  const all = await recordings();
  let next = 0;
  start = async (signal) => {
    const { file, plain, system, problem, device } = all[next++ % all.length] as Recording;
    problems.show(problem);
    systems.pretend(system);
    say('device', `Recorded on ${device}`);
    const run = await view.show(replay(file, signal), problem);
    comparison.clear();
    if (!plain) return false;
    return comparison.offer(run, {
      key: file,
      greedy: true,
      exact: true,
      baseline: 'autoregressive',
      plain: (stop) => replay(plain, stop),
    });
  };
  box.readOnly = true;
  for (const control of document.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>(
    ':is(.models, .systems) :is(button, input, select), #fresh, #examples button',
  ))
    control.disabled = true;
  go.textContent = 'Replay';
  go.disabled = false;
  await run();
};

/** One thing at a time; the button stops it. */
const work = async (task: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  if (!start || running) return;
  const label = go.textContent;
  running = new AbortController();
  go.textContent = 'Stop';
  hideFault();
  try {
    await task(running.signal);
  } catch (error) {
    const { code } = showFault(error);
    if (code === 'device-lost') {
      start = null;
      roles = [];
      go.disabled = true;
      lamp('off');
      loading.finish('The device was lost: choose a model to load it again.', false);
    }
  } finally {
    running = null;
    go.textContent = label;
  }
};

const run = (): Promise<void> =>
  work(async (signal) => {
    comparison.clear();
    if (await start?.(signal)) await comparison.race(signal);
  });

const press = (): void => {
  if (running) running.abort();
  else void run();
};

go.addEventListener('click', press);
box.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !running) press();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') running?.abort();
});
precision.addEventListener('change', () => void targetChanged());

startTheme();
startModels((choice, role) => {
  if (role === 'target') {
    family = new Family(choice);
    void targetChanged();
    return;
  }
  family.add(role, choice);
  roles = roles.filter((each) => each !== role);
  systems.offer(family);
  showMembers();
  void load([role], choice.label);
});
family = new Family(firstChoice());
await problems.start();
await targetChanged();
