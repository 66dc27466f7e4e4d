// The page without WebGPU: it explains itself and replays recordings of the real engine, so it is never empty.
import { SYSTEMS } from '../../src/index.ts';
import { outcomeOf } from '../run/outcome.ts';
import type { Entry } from '../run/race.ts';
import type { RaceTab } from '../run/race-tab.ts';
import { paced } from '../run/replay-clock.ts';
import type { Session } from '../session.ts';
import { element, say } from '../shared/elements.ts';
import { hideFault, sentence } from '../shared/faults.ts';
import { type Recording, recorded, recordings, SLOWER } from './recordings.ts';

/** `run`: at once, unless the visitor came for a trace of their own. */
export const replayInstead = async (why: string, session: Session, race: RaceTab, run: boolean): Promise<void> => {
  hideFault();
  element('no-webgpu', HTMLElement).hidden = false;
  say('no-webgpu-why', sentence(why));
  session.gone('Loading a model needs WebGPU', 'No WebGPU: a recording');
  const all = await recordings();
  let next = 0;
  const start = async ({ system: wanted }: { system?: string }): Promise<Entry> => {
    const found = all.find(({ system }) => system === wanted);
    const { file, plain, system, problem, device } = found ?? (all[next++ % all.length] as Recording);
    const [events, twin] = await Promise.all([recorded(file), recorded(plain)]);
    race.problems.show(problem);
    session.systems.pretend(system);
    say('device', `Recorded on ${device}`);
    race.know(file, outcomeOf(twin));
    const { title = system, guarantee, baseline = 'autoregressive' } = SYSTEMS.find(({ id }) => id === system) ?? {};
    return {
      name: title,
      problem,
      greedy: true,
      exact: guarantee === 'exact',
      baseline,
      key: file,
      slower: SLOWER,
      system: (signal) => paced(events, { slower: SLOWER, signal }),
      plain: (signal) => paced(twin, { slower: SLOWER, signal }),
    };
  };
  race.offer(start, 'Replay');
  element('problem', HTMLTextAreaElement).readOnly = true;
  for (const control of document.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>(
    ':is(.models, .systems) :is(button, input, select), #fresh, #examples button',
  ))
    control.disabled = true;
  if (run) await race.race();
};
