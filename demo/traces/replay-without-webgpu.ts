// The page without WebGPU: it explains what is missing and replays recordings of the real engine.
import { SYSTEMS } from '../../src/index.ts';
import { chooseSystem } from '../run/choose-system.ts';
import type { Entry } from '../run/race.ts';
import type { RaceTab } from '../run/race-tab.ts';
import { replayed } from '../run/replay-clock.ts';
import type { Session } from '../session.ts';
import { element, make, say } from '../shared/elements.ts';
import { hideFault, sentence } from '../shared/faults.ts';
import { placeOf, type Recording, recorded, recordings, SLOWER } from './recordings.ts';

/** `mayStart`: whether the first recording starts at once, when it is known. */
export const replayInstead = async (
  why: string,
  session: Session,
  race: RaceTab,
  mayStart: () => boolean,
): Promise<void> => {
  hideFault();
  element('no-webgpu', HTMLElement).hidden = false;
  say('no-webgpu-why', sentence(why));
  session.withoutWebGpu = true;
  session.gone('Loading a model needs WebGPU.', 'No WebGPU: playing a recording');
  const all = await recordings();
  let next = 0;
  let mark = (_system: string): void => {};
  const start = async ({ system: wanted }: { system?: string }): Promise<Entry> => {
    const found = all.find(({ system }) => system === wanted);
    const { file, plain, system, problem, device } = found ?? (all[next++ % all.length] as Recording);
    const [events, plainEvents] = await Promise.all([recorded(file), recorded(plain)]);
    race.problems.show(problem);
    session.systems.showRecorded(system);
    mark(system);
    say('device', `Recorded on ${placeOf(device)}`);
    const { title = system, guarantee, baseline = 'autoregressive' } = SYSTEMS.find(({ id }) => id === system) ?? {};
    return {
      name: title,
      question: problem.question,
      problem,
      greedy: true,
      exact: guarantee === 'exact',
      baseline,
      recorded: true,
      system: (signal) => replayed(events, { slower: SLOWER, signal }),
      plain: (signal) => replayed(plainEvents, { slower: SLOWER, signal }),
    };
  };
  race.offer(start, 'Replay');
  element('problem', HTMLTextAreaElement).readOnly = true;
  for (const control of document.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>(
    ':is(.models, .systems) :is(button:not(.badge), input, select), #fresh, #all-go',
  ))
    control.disabled = true;
  for (const id of ['fresh', 'offers']) element(id, HTMLElement).hidden = true;
  say('stage-go', 'Replay this race');
  for (const id of ['stage-phase', 'load-status']) say(id, 'No WebGPU here: recordings only.');
  const tabs = all.map(({ system }) => {
    const { title = system } = SYSTEMS.find(({ id }) => id === system) ?? {};
    return make('button', { type: 'button', role: 'tab', className: 'recording', textContent: title, value: system });
  });
  mark = (system) => {
    for (const tab of tabs) {
      tab.ariaSelected = `${tab.value === system}`;
      tab.tabIndex = tab.value === system ? 0 : -1;
    }
  };
  mark(all[0]?.system ?? '');
  let wanted = '';
  const choose = async ({ value: system }: HTMLButtonElement): Promise<void> => {
    wanted = system;
    race.stop();
    await chooseSystem([system]);
    if (wanted === system) await race.race({ system }); // another may have been chosen while this one waited
  };
  for (const [at, tab] of tabs.entries()) {
    tab.setAttribute('aria-controls', 'lanes');
    tab.addEventListener('click', () => void choose(tab));
    tab.addEventListener('keydown', ({ key }) => {
      const next = tabs[(at + (key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? tabs.length - 1 : 0)) % tabs.length];
      if (!next || next === tab) return;
      next.focus();
      void choose(next);
    });
  }
  const list = element('examples', HTMLElement);
  list.role = 'tablist';
  list.ariaLabel = 'Recordings';
  list.replaceChildren(...tabs);
  if (mayStart()) await race.race();
};
