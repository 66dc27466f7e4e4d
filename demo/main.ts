// The page: a model, a problem, an answer. The engine runs in a worker, so nothing here ever computes; this file only
// decides what may be pressed when.
import { connect, type Loaded, type LoadOptions, type RunRequest } from '../src/index.ts';
import { AnswerView } from './answer.ts';
import { element, megabytes, say } from './elements.ts';
import { hideFault, sentence, showFault } from './faults.ts';
import { LoadingView } from './loading.ts';
import { type Choice, firstChoice, startModels } from './models.ts';
import { Problems } from './problems.ts';
import { type Recording, recordings, replay } from './replay.ts';
import { startTheme } from './theme.ts';

const go = element('go', HTMLButtonElement);
const box = element('problem', HTMLTextAreaElement);
const precision = element('precision', HTMLSelectElement);
const problems = new Problems();
const answer = new AnswerView();
const loading = new LoadingView();
const engine = connect();

/** What the button starts; null while there is no model. */
let start: ((signal: AbortSignal) => Promise<void>) | null = null;
let running: AbortController | null = null;
let choice: Choice;
let cancelLoad: AbortController | null = null;

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
  const { target } = models;
  const { vendor, architecture, description } = adapter ?? { vendor: 'GPU' };
  const gpu = description || [vendor, architecture].filter(Boolean).join(' ');
  const software = /swiftshader|llvmpipe/i.test(gpu) ? ' (software)' : '';
  const weights = target ? `; ${target.family}, ${megabytes(target.bytes)} on the device` : '';
  return `${gpu}${software}${weights}, ready in ${seconds.toFixed(1)} s${notice ? `. ${notice}` : ''}`;
};

/** A new choice stops what runs and cancels the load before it. */
const load = async (next: Choice): Promise<void> => {
  choice = next;
  running?.abort();
  cancelLoad?.abort();
  const abort = new AbortController();
  cancelLoad = abort;
  start = null;
  go.disabled = true;
  hideFault();
  lamp('busy');
  const signal = AbortSignal.any([abort.signal, loading.start(next.label)]);
  const began = performance.now();
  try {
    const bits = precision.value as '' | NonNullable<LoadOptions['precision']>;
    const loaded = await engine.load(
      { target: next.source },
      { ...(bits && { precision: bits }), signal, onProgress: (progress) => loading.show(progress) },
    );
    if (cancelLoad !== abort) return;
    loading.finish(`${loaded.models.target?.name ?? next.label} is ready`, true);
    say('device', describe(loaded, (performance.now() - began) / 1000));
    lamp('ready');
    start = (stop) => answer.show(engine.run(request(), stop), problems.current);
    go.disabled = false;
  } catch (error) {
    if (cancelLoad !== abort) return;
    const fault = showFault(error);
    loading.finish(fault.code === 'aborted' ? 'Cancelled. Choose a model to load one.' : 'Not loaded', false);
    say('device', 'No model is loaded');
    lamp('off');
    if (fault.code === 'no-webgpu') await replayInstead(fault.message);
  }
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
    const recording = all[next++ % all.length] as Recording;
    problems.show(recording.problem);
    say('device', `Recorded on ${recording.device}`);
    await answer.show(replay(recording.file, signal), recording.problem);
  };
  box.readOnly = true;
  for (const control of document.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>(
    '.models :is(button, input, select), #fresh, #examples button',
  ))
    control.disabled = true;
  go.textContent = 'Replay';
  go.disabled = false;
  await run();
};

const run = async (): Promise<void> => {
  if (!start || running) return;
  const label = go.textContent;
  running = new AbortController();
  go.textContent = 'Stop';
  hideFault();
  try {
    await start(running.signal);
  } catch (error) {
    const { code } = showFault(error);
    if (code === 'device-lost') {
      start = null;
      go.disabled = true;
      lamp('off');
      loading.finish('The device was lost: choose a model to load it again.', false);
    }
  } finally {
    running = null;
    go.textContent = label;
  }
};

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
precision.addEventListener('change', () => void load(choice));

startTheme();
startModels((next) => void load(next));
choice = firstChoice();
await problems.start();
await load(choice);
