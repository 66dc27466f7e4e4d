// Plays an opened trace in the Race tab, against its plain run if that was saved with it.
import { SYSTEMS } from '../../src/index.ts';
import type { Entry } from '../run/race.ts';
import type { RaceTab } from '../run/race-tab.ts';
import { replayed } from '../run/replay-clock.ts';
import { placeOf } from './recordings.ts';
import type { TraceFile } from './trace-file.ts';

/** What a trace holds: system, model, and where it ran. The command line does not name the models. */
export const replayOf = ({ events, title, device }: TraceFile): string => {
  const run = events.find((event) => event.type === 'run');
  const target = run?.models?.target;
  const model = target && (target === 'target' ? 'the bundled models' : target);
  return `Replay: ${title}${model ? ` with ${model}` : ''}${device ? `, recorded on ${placeOf(device)}` : ''}.`;
};

/** The runs of a trace, to be shown like a race. */
export const entryOf = (file: TraceFile, slower: number): Entry => {
  const { events, plain = [], problem, title, sampled = false } = file;
  const run = events.find((event) => event.type === 'run');
  const { guarantee, baseline = 'autoregressive' } = SYSTEMS.find(({ id }) => id === run?.system) ?? {};
  return {
    name: title,
    question: problem?.question ?? '',
    problem: problem?.result ? problem : null,
    greedy: !sampled,
    exact: guarantee === 'exact',
    baseline,
    alone: plain.length === 0,
    recorded: true,
    replay: `${replayOf(file)}${slower > 1 ? ` Shown ${slower} times slower.` : ''}`,
    system: (signal) => replayed(events, { slower, signal }),
    plain: (signal) => replayed(plain, { slower, signal }),
  };
};

export const playTrace = async (file: TraceFile, slower: number, race: RaceTab): Promise<void> => {
  await race.play(() => {
    if (file.problem) race.problems.show(file.problem);
    else race.problems.showUnknown();
    return entryOf(file, slower);
  });
};
