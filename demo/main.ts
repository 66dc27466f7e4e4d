// The demo page: a model, a decoding system, and three tabs. The engine runs in a worker, so the main thread never
// computes; this file only connects the parts.
import { SYSTEMS } from '../src/index.ts';
import type { ChatTab } from './chat/chat-tab.ts';
import { startEmbed } from './embed.ts';
import { InspectTab } from './inspect/inspect-tab.ts';
import { AllSystems } from './run/all-systems.ts';
import { chooseMembers, chooseSystem, obstacle } from './run/choose-system.ts';
import { type OnAsk, type Outcome, outcomeOf } from './run/outcome.ts';
import type { Entry, Raced } from './run/race.ts';
import { RaceTab, showAnswer } from './run/race-tab.ts';
import { Session } from './session.ts';
import { element } from './shared/elements.ts';
import { showFault } from './shared/faults.ts';
import { onDrop } from './shared/file-drop.ts';
import { startHints } from './shared/hints.ts';
import { keepFocus } from './shared/keep-focus.ts';
import { lazily } from './shared/lazily.ts';
import { bringIntoView } from './shared/stillness.ts';
import { readHash, Tabs } from './shared/tabs.ts';
import { Stage } from './stage/stage.ts';
import type { StructuredTab } from './structured/structured-tab.ts';
import { playTrace, replayOf } from './traces/play-trace.ts';
import { recordings, traceOf } from './traces/recordings.ts';
import { replayInstead } from './traces/replay-without-webgpu.ts';
import { TraceBar } from './traces/trace-bar.ts';
import type { TraceFile } from './traces/trace-file.ts';

startHints();
keepFocus();
const stage = new Stage();
/** The tabs that have been opened and that need a model. */
const opened = new Set<ChatTab | StructuredTab>();
let ready = false;

/** Gives a finished run to Inspect and to the trace bar. */
const keep = ({ run, plain, detailed = run }: Raced, title: string, question: string, entry?: Entry): void => {
  const problem = entry?.problem ?? { question, answer: '', result: '' };
  inspect.take(detailed, entry && !entry.recorded ? entry.question : null);
  const { document, greedy = true } = entry ?? {};
  const about = { title, problem, device: session.device };
  traces.take(run, plain ?? null, { ...about, ...(document && { document }), ...(!greedy && { sampled: true }) });
};

/** What the stage plays, run on this machine. */
const raceHere = async (): Promise<void> => {
  const { recording } = stage;
  stage.rest();
  race.stop();
  if (recording) race.problems.show(recording.problem);
  const why = await obstacle();
  if (why) return void showFault(why);
  if (recording && 'also-2' in recording.models) await chooseMembers('both');
  const system = await chooseSystem([recording?.system ?? session.systems.system.id]);
  showAnswer();
  element('answer-title', HTMLElement).focus({ preventScroll: true }); // what is read next is there
  await race.race(system ? { system } : {});
};
element('stage-go', HTMLButtonElement).addEventListener('click', () => void raceHere());

/** What Inspect shows before anything has run: the recording that the stage plays. */
const example = async (): Promise<TraceFile | null> => {
  const found = stage.recording ?? (await recordings())[0];
  return found ? traceOf(found) : null;
};

const inspect = new InspectTab(async (question, details) => {
  if (race.problems.question === '') race.problems.show({ question }); // otherwise the box keeps what is in it
  const why = await obstacle();
  return why ? showFault(why) : race.answer({ ...details, question });
}, example);
const race: RaceTab = new RaceTab(
  () => session.lost(),
  (raced, entry) => keep(raced, entry.name, entry.question, entry),
);
const traces = new TraceBar(async (file, slower) => {
  if (tabs.current === 'chat' || tabs.current === 'structured') tabs.choose('race');
  if (tabs.current === 'race') {
    showAnswer();
    // The menu has closed, and its button is far above what is shown now.
    if (document.activeElement === element('trace-menu', HTMLElement))
      element('answer-title', HTMLElement).focus({ preventScroll: true });
  }
  inspect.take(outcomeOf(file.events), null, replayOf(file));
  if (file.document) session.systems.document.fill(file.document);
  await playTrace(file, slower, race);
});

const setReady = (now: boolean): void => {
  ready = now;
  for (const tab of opened) tab.ready = now;
};

const session: Session = new Session({
  loading() {
    race.block();
    setReady(false);
  },
  ready() {
    race.offer((wanted) => {
      stage.rest();
      return race.live(session, wanted);
    });
    setReady(true);
  },
  async failed({ code, message }) {
    if (code !== 'no-webgpu' || session.withoutWebGpu) return;
    const noTrace = (): boolean => traces.opened === 0 && !readHash(location.hash).trace;
    const replaying = replayInstead(message, session, race, noTrace);
    setReady(false);
    await replaying;
  },
});

/** Keeps an answer that belongs to no problem of the Race tab, unless a trace was opened while it was written. */
const asking: OnAsk = (question) => {
  const { opened } = traces;
  return (run) => {
    const title = SYSTEMS.find(({ id }) => id === run.system)?.title ?? run.system;
    if (traces.opened === opened) keep({ run }, title, question);
  };
};

const chat = lazily(
  () => import('./chat/chat-tab.ts'),
  ({ ChatTab }) => new ChatTab(session, asking),
);
const structured = lazily(
  () => import('./structured/structured-tab.ts'),
  ({ StructuredTab }) => new StructuredTab(session, asking),
);

const openTab = async (fetched: Promise<ChatTab | StructuredTab>): Promise<void> => {
  const tab = await fetched;
  opened.add(tab);
  tab.ready = ready;
};

const tabs = new Tabs((tab) => {
  inspect.show(tab === 'inspect');
  if (tab === 'chat') openTab(chat()).catch(showFault);
  if (tab === 'structured') openTab(structured()).catch(showFault);
});

new AllSystems({
  answer: () => race.answer({ fresh: true }),
  stop: () => race.stop(),
  problem: () => race.problems.current,
  question: () => race.problems.question,
  show(title, question, run, plain) {
    stage.show({ title, question, device: session.device }, run, plain);
    bringIntoView(element('stage-title', HTMLElement));
  },
});

startEmbed();

const tourCode = lazily(
  () => Promise.all([import('./tour/tour.ts'), import('./tour/tour-host.ts'), inspect.fetch()]),
  ([{ Tour }, { createHost }]) => ({ Tour, createHost }),
);
let touring = false;
const startTour = async (): Promise<void> => {
  const before = session.systems.system.id;
  const { Tour, createHost } = await tourCode();
  const inspectRun = (run: Outcome, question: string) => {
    inspect.take(run, session.withoutWebGpu ? null : question);
    return inspect.view();
  };
  new Tour(createHost({ race, open: (tab) => tabs.choose(tab), inspect: inspectRun }), () => {
    touring = false;
    void chooseSystem([before]);
  });
};
element('tour', HTMLButtonElement).addEventListener('click', () => {
  if (touring) return;
  touring = true;
  startTour().catch((error) => {
    touring = false;
    showFault(error);
  });
});

const openTrace = (): void => {
  const { trace } = readHash(location.hash);
  if (trace) void traces.openAddress(trace);
};
window.addEventListener('hashchange', openTrace);

onDrop(
  () => {
    element('own', HTMLDetailsElement).open = true;
  },
  (files) => {
    const [file] = files;
    if (files.length === 1 && /\.(jsonl|ndjson)$/.test(file?.name ?? '')) void traces.open(file as File);
    else session.own.take(files);
  },
);

race.problems.onLoadModel = (pick) => session.choose(pick);
await race.problems.start();
openTrace();
stage.start().catch(() => {}); // the rest of the page works without its recordings
await session.start();
