// What the tour does on the page: it chooses systems and problems through the page's controls and waits for the runs.
import type { InspectView } from '../inspect/inspect-view.ts';
import { chooseSystem } from '../run/choose-system.ts';
import { LOGPROBS, type Moment } from '../run/moments.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Finished, RaceTab, Wanted } from '../run/race-tab.ts';
import type { Tab } from '../shared/tabs.ts';
import type { TourHost } from './tour-stops.ts';

/** A short answer with a rejected draft in it. */
const RACE = { systems: ['dflash', 'eagle3', 'prompt-lookup'], problem: /^Leo plants 5 trees/ };
/** The draft model gets the subtraction of this problem wrong. */
const ROUTE = { systems: ['rsd'], problem: /^Tom has 21 beads/ };

const withProbabilities = ({ events }: Outcome): boolean =>
  events.some((event) => event.type === 'verify' && event.probabilities !== undefined);

export interface Page {
  readonly race: RaceTab;
  open(tab: Tab): void;
  /** The Inspect view, which shows this run of a problem. */
  inspect(run: Outcome, question: string): Promise<InspectView>;
}

export const createHost = ({ race, open, inspect }: Page): TourHost => {
  let raced: Finished | null = null;
  let detailed: Outcome | null = null;
  let routed: Outcome | null = null;

  /** Null if it was stopped: the tour runs it again. */
  const answer = async (wanted: Wanted): Promise<Outcome | null> => {
    const run = await race.answer(wanted);
    return run?.complete ? run : null;
  };

  /** Chooses a problem and the first system that can run; returns its id. */
  const choose = async ({ systems, problem }: typeof RACE): Promise<string | null> => {
    race.stop();
    const possible = await chooseSystem(systems);
    if (possible) race.problems.show(race.problems.find(problem));
    return possible;
  };

  return {
    openRace: () => open('race'),
    async race() {
      const system = raced ? null : await choose(RACE);
      if (system) raced = await race.race({ system });
      return raced?.plain ? { ...raced, plain: raced.plain } : null;
    },
    async route() {
      const system = routed ? null : await choose(ROUTE);
      if (system) routed = await answer({ system, logprobs: LOGPROBS });
      return routed;
    },
    async inspect(run, fits): Promise<Moment | null> {
      if (!detailed && withProbabilities(run)) detailed = run;
      if (!detailed && (await choose(RACE))) detailed = await answer({ logprobs: LOGPROBS });
      if (!detailed) return null;
      open('inspect');
      return (await inspect(detailed, race.problems.find(RACE.problem)?.question ?? '')).seek(fits);
    },
  };
};
