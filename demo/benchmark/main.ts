// The benchmark page: the device, the plan, the results, and the comparison of two results. All computing happens in
// workers; this file decides which buttons can be pressed when.
import { version } from '../../package.json';
import { connect } from '../../src/index.ts';
import type { ChartView } from '../shared/chart.ts';
import { element, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { startHints } from '../shared/hints.ts';
import { keepFocus } from '../shared/keep-focus.ts';
import { saveFile } from '../shared/save.ts';
import { DeviceView } from './device-view.ts';
import { type Plan, type Row, rowsOf } from './queue/plan.ts';
import { type Progress, progressOf, progressText } from './queue/progress.ts';
import { Queue } from './queue/queue.ts';
import { measureDevice } from './queue/runner.ts';
import { TabVisibility } from './queue/tab-visibility.ts';
import { COSTS, type Cost, costChart } from './results/chart-specs.ts';
import { hostMemoryNote } from './results/columns.ts';
import { CompareView } from './results/compare-view.ts';
import { markdownOf } from './results/markdown.ts';
import { type ResultFile, resultFileOf } from './results/result-file.ts';
import { resultOf } from './results/result-row.ts';
import { ResultTable } from './results/result-table.ts';
import { SpeedBars } from './results/speed-bars.ts';
import { PlanForm } from './setup/plan-form.ts';
import { PRESETS } from './setup/presets.ts';

const go = element('go', HTMLButtonElement);
const measure = element('measure', HTMLButtonElement);
const cancel = element('cancel', HTMLButtonElement);
const bar = element('bar', HTMLProgressElement);
const title = document.title;

const device = new DeviceView();
const form = new PlanForm();
const bars = new SpeedBars();
const table = new ResultTable((row) => void work((signal) => runRows([row], signal)));

interface Session {
  readonly plan: Plan;
  readonly rows: readonly Row[];
  readonly made: Date;
}

let session: Session | null = null;
let running: AbortController | null = null;
let chart: ChartView | null = null;
/** When the queue was started, and how far it was then. */
let started: { readonly at: number; readonly progress: Progress } | null = null;

const visibility = new TabVisibility((hidden) => {
  if (!running) return;
  element('paused', HTMLElement).hidden = !hidden;
  document.title = hidden ? `Paused – ${title}` : title;
});

const file = ({ plan, rows, made }: Session): ResultFile =>
  resultFileOf(plan, rows, device.card, { version, browser: navigator.userAgent, made });

const showCost = async (): Promise<void> => {
  const box = element('cost', HTMLElement);
  const choice = element('cost-of', HTMLSelectElement).value as Cost;
  const spec = session && costChart(file(session).rows, choice);
  box.hidden = !spec;
  if (!spec) return;
  chart ??= new (await import('../shared/chart.ts')).ChartView();
  element('cost-chart', HTMLElement).replaceChildren(chart.node);
  chart.show(spec);
};

const showBars = ({ plan, rows }: Session): void =>
  bars.show(rows.map((row) => resultOf(row, rows, plan, device.card)));

/** Rows that changed; a row is redrawn once, however often it changes in 50 ms. */
const pending = new Set<Row>();
const changed = (row: Row): void => {
  pending.add(row);
  if (pending.size > 1) return;
  setTimeout(() => {
    for (const each of pending) table.show(each, device.card);
    pending.clear();
    if (!session) return;
    showBars(session);
    const progress = progressOf(session.rows, session.plan.repeat);
    bar.value = progress.all > 0 ? progress.made / progress.all : 0;
    const seconds = (performance.now() - (started?.at ?? 0)) / 1000;
    say('left', started ? progressText(progress, started.progress, seconds) : '');
  }, 50);
};

/** Screen readers are told the text, but not the count, which changes all the time. */
const tell = (text: string, count = ''): void => {
  say('status', text);
  say('counter', count);
};

/** Tells how work goes, until it is aborted: a message of its worker may arrive after that. */
const tellUntil =
  (signal: AbortSignal): typeof tell =>
  (text, count) => {
    if (!signal.aborted) tell(text, count);
  };

const measureNow = async (signal: AbortSignal): Promise<void> => {
  const { target } = form; // before the form is frozen: a disabled form always counts as valid
  form.freeze(true);
  const status = tellUntil(signal);
  await device.show(await measureDevice(target, (what) => status(`Measuring the device: ${what}`), signal));
};

/** Makes the missing runs of these rows. */
const runRows = async (rows: readonly Row[], signal: AbortSignal): Promise<void> => {
  if (!session) return;
  form.freeze(true);
  const queue = new Queue(session.plan, session.rows, { changed, status: tellUntil(signal) }, visibility);
  started = { at: performance.now(), progress: progressOf(session.rows, session.plan.repeat) };
  await queue.run(rows, signal);
  started = null;
  const failed = session.rows.filter(({ cells }) => cells.some(({ state }) => state === 'failed')).length;
  const rest =
    failed > 0
      ? ` ${failed === 1 ? 'One row has' : `${failed} rows have`} failed runs. Press Retry to repeat them.`
      : '';
  tell(signal.aborted ? 'Cancelled. Earlier measurements are kept.' : `Finished.${rest}`);
  for (const row of session.rows) changed(row);
  say('memory-about', hostMemoryNote(file(session).rows));
  await showCost();
};

const runAll = async (signal: AbortSignal): Promise<void> => {
  const plan = await form.plan(); // before the form is frozen: a disabled form always counts as valid
  // The device first: the used bandwidth is a share of the measured one.
  if (form.measured && !device.card) await measureNow(signal);
  signal.throwIfAborted();
  session = { plan, rows: rowsOf(plan), made: new Date() };
  element('results', HTMLElement).hidden = false;
  table.start(plan, session.rows, device.card);
  table.freeze(true);
  showBars(session);
  await runRows(session.rows, signal);
};

const startButtons = [...Object.keys(PRESETS), 'go', 'measure'].map((id) => element(id, HTMLButtonElement));

/** Runs one task at a time, which Cancel ends. */
const work = async (task: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  if (running) return;
  running = new AbortController();
  hideFault();
  for (const button of startButtons) button.disabled = true;
  cancel.disabled = false;
  table.freeze(true);
  try {
    await task(running.signal);
  } catch (error) {
    tell(showFault(error).code === 'aborted' ? 'Cancelled' : 'Stopped by an error.');
  } finally {
    running = null;
    form.freeze(false);
    for (const button of startButtons) button.disabled = false;
    cancel.disabled = true;
    table.freeze(false);
    const hasResults = session?.rows.some(({ samples }) => samples.length > 0) ?? false;
    for (const id of ['copy', 'save']) element(id, HTMLButtonElement).disabled = !hasResults;
    element('paused', HTMLElement).hidden = true;
    document.title = title;
  }
};

const copy = async (): Promise<void> => {
  if (!session) return;
  const text = markdownOf(file(session));
  try {
    await navigator.clipboard.writeText(text);
    say('copied', 'Copied');
  } catch {
    // Without permission the text is shown and selected instead.
    const box = element('markdown', HTMLTextAreaElement);
    Object.assign(box, { hidden: false, value: text });
    box.select();
    say('copied', 'The browser refused to copy. Copy the text below.');
  }
};

const save = (): void => {
  if (!session) return;
  const name = `outrider-${session.made.toISOString().slice(0, 16).replace(/[:T]/g, '-')}.json`;
  saveFile(name, JSON.stringify(file(session), null, 1), 'application/json');
};

go.addEventListener('click', () => void work(runAll));
cancel.addEventListener('click', () => running?.abort());
for (const [id, preset] of Object.entries(PRESETS))
  element(id, HTMLButtonElement).addEventListener('click', () => {
    if (running) return;
    form.fill(preset);
    void work(runAll);
  });
measure.addEventListener('click', () => void work(measureNow));
element('copy', HTMLButtonElement).addEventListener('click', () => void copy());
element('save', HTMLButtonElement).addEventListener('click', save);
const costOf = element('cost-of', HTMLSelectElement);
costOf.replaceChildren(...Object.entries(COSTS).map(([id, cost]) => new Option(cost.title, id)));
costOf.addEventListener('change', () => void showCost());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') running?.abort();
});

/** Results can be compared without WebGPU, but nothing can be measured. */
const checkDevice = async (): Promise<void> => {
  const engine = connect();
  try {
    await engine.preflight({});
  } catch (error) {
    showFault(error);
    for (const button of startButtons) button.disabled = true;
    tell('Nothing can be measured in this browser. Results from elsewhere can be compared below.');
  } finally {
    await engine.close();
  }
};

startHints();
keepFocus();
new CompareView();
await checkDevice();
