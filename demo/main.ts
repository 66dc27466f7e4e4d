// The page: a model, a decoding system, and three tabs. The engine runs in a worker, so nothing here ever computes; this
// file only puts the parts together.
import type { ChatTab } from './chat/chat-tab.ts';
import { Inspector } from './inspect/inspect-tab.ts';
import { type Outcome, outcomeOf } from './run/outcome.ts';
import type { Entry } from './run/race.ts';
import { RaceTab } from './run/race-tab.ts';
import { Session } from './session.ts';
import { onDrop } from './shared/drop.ts';
import { element } from './shared/elements.ts';
import { readHash, Tabs } from './shared/tabs.ts';
import { startTheme } from './shared/theme.ts';
import { TraceBar } from './traces/trace-bar.ts';

startTheme();
let chat: Promise<ChatTab> | null = null;
let ready = false;

/** What a run left can be looked into and saved. */
const keep = (outcome: Outcome, plain: Outcome | null, title: string, question: string, entry?: Entry): void => {
  const problem = entry?.problem ?? { question, answer: '', result: '' };
  inspector.take(outcome);
  traces.hold(outcome, plain, { title, problem, device: session.device });
};

const inspector = new Inspector((closer) => race.answer(closer));
const race: RaceTab = new RaceTab(
  () => session.lost(),
  (outcome, entry, plain) => keep(outcome, plain, entry.name, race.problems.question, entry),
);
const traces = new TraceBar(async (file, slower) => {
  if (tabs.current === 'chat') tabs.choose('race');
  inspector.take(outcomeOf(file.events));
  await (await import('./traces/play-trace.ts')).playTrace(file, slower, race);
});

const setReady = async (now: boolean): Promise<void> => {
  ready = now;
  if (chat) (await chat).ready = ready;
};

const session: Session = new Session({
  loading() {
    race.block();
    void setReady(false);
  },
  forget: () => race.forget(),
  ready() {
    race.offer((closer) => race.live(session, closer));
    void setReady(true);
  },
  async failed({ code, message }) {
    if (code !== 'no-webgpu') return;
    const { replayInstead } = await import('./traces/replay-without-webgpu.ts');
    await replayInstead(message, session, race, !readHash(location.hash).trace);
  },
});

const openChat = async (): Promise<void> => {
  chat ??= import('./chat/chat-tab.ts').then(
    ({ ChatTab }) =>
      new ChatTab(session, (outcome, question) => keep(outcome, null, session.systems.system.title, question)),
  );
  (await chat).ready = ready;
};

const tabs = new Tabs((tab) => {
  inspector.show(tab === 'inspect');
  if (tab === 'chat') void openChat();
});

let touring = false;
element('tour', HTMLButtonElement).addEventListener('click', async () => {
  if (touring) return;
  touring = true;
  const [{ Tour }, { createHost }] = await Promise.all([import('./tour/tour.ts'), import('./tour/host.ts')]);
  const inspect = (run: Outcome) => {
    inspector.take(run);
    return inspector.view();
  };
  new Tour(createHost({ race, open: (tab) => tabs.choose(tab), inspect }), () => {
    touring = false;
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

await race.problems.start();
openTrace();
if (!readHash(location.hash).trace) race.preview(session.systems.system.id).catch(() => {}); // it is not needed
await session.start();
