// The page without WebGPU: it explains what is missing and replays recordings of the real engine.
import { SYSTEMS } from '../../src/index.ts';
import { chooseSystem } from '../run/choose-system.ts';
import type { Entry } from '../run/race.ts';
import type { RaceTab } from '../run/race-tab.ts';
import { replayed } from '../run/replay-clock.ts';
import type { Session } from '../session.ts';
import { element, make, say } from '../shared/elements.ts';
import { hideFault, sentence } from '../shared/faults.ts';
import { type Recording, recorded, recordings, SLOWER } from './recordings.ts';

/** `run`: starts the first recording at once. */
export const replayInstead = async (why: string, session: Session, race: RaceTab, run: boolean): Promise<void> => {
  hideFault();
  element('no-webgpu', HTMLElement).hidden = false;
  say('no-webgpu-why', sentence(why));
  session.gone('Loading a model needs WebGPU.', 'No WebGPU: playing a recording');
  const all = await recordings();
  let next = 0;
  const start = async ({ system: wanted }: { system?: string }): Promise<Entry> => {
    const found = all.find(({ system }) => system === wanted);
    const { file, plain, system, problem, device } = found ?? (all[next++ % all.length] as Recording);
    const [events, plainEvents] = await Promise.all([recorded(file), recorded(plain)]);
    race.problems.show(problem);
    session.systems.showRecorded(system);
    say('device', `Recorded on ${device}`);
    const { title = system, guarantee, baseline = 'autoregressive' } = SYSTEMS.find(({ id }) => id === system) ?? {};
    return {
      name: title,
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
    ':is(.models, .systems) :is(button, input, select), #fresh, #all-go',
  ))
    control.disabled = true;
  element('fresh', HTMLButtonElement).hidden = true;
  say('stage-go', 'Replay this race');
  const names = all.map(({ system }) => {
    const { title = system } = SYSTEMS.find(({ id }) => id === system) ?? {};
    const button = make('button', { type: 'button', textContent: title });
    button.addEventListener('click', async () => {
      race.stop();
      await chooseSystem(system);
      await race.race({ system });
    });
    return button;
  });
  element('examples', HTMLElement).replaceChildren(...names);
  if (run) await race.race();
};
