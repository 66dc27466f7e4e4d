// A race of two lanes on one prompt. Each run has the machine to itself: first one of each, live and not timed, then
// three of each in turn, and last a replay of both at their measured speeds. The baseline is timed anew in each race.
import type { TraceEvent } from '../../src/trace/index.ts';
import { element, make, say } from '../shared/elements.ts';
import { wantsStillness } from '../shared/stillness.ts';
import { capitalised } from '../shared/words.ts';
import { baselineName, finishOf, medianPair, type Terms } from './finish.ts';
import { Lane } from './lane.ts';
import { LOGPROBS } from './moments.ts';
import { type Outcome, outcomeOf, type Pair, withProbabilities } from './outcome.ts';
import type { Problem } from './problems.ts';
import { replayed } from './replay-clock.ts';
import type { RunView } from './run-view.ts';
import { TokenDetails } from './token-details.ts';

/** Which runs race, live or recorded. */
export interface Entry extends Terms {
  /** Name of the system's lane. */
  readonly name: string;
  /** Empty for a trace that does not contain it. */
  readonly question: string;
  readonly problem: Problem | null;
  /** The document of the request. */
  readonly document?: string | undefined;
  system(signal: AbortSignal, details?: Details): AsyncIterable<TraceEvent>;
  plain(signal: AbortSignal, details?: Details): AsyncIterable<TraceEvent>;
  /** What is replayed, for people; without it the run is live or the whole page says so. */
  readonly replay?: string;
  /** There is no baseline run: the system is the baseline itself, or the trace has none. */
  readonly alone?: boolean;
}

/** What Inspect needs of a run. It costs time, so timed runs do without. */
export interface Details {
  readonly logprobs?: number;
  readonly profile?: boolean;
  /** Nothing that earlier runs have left is used: every run of a race begins alike. */
  readonly fresh?: boolean;
}

/** A race: the runs with the median factor; without `plain` it was stopped. `detailed`: the run, with probabilities. */
export interface Raced {
  readonly run: Outcome;
  readonly plain?: Outcome;
  readonly detailed?: Outcome;
}

/** Timed runs of each. */
const TIMED = 3;

const collected = async (events: AsyncIterable<TraceEvent>): Promise<Outcome> => {
  const seen: TraceEvent[] = [];
  for await (const event of events) seen.push(event);
  return outcomeOf(seen);
};

export class Race {
  readonly #view: RunView;
  readonly #lanes = element('lanes', HTMLElement);
  readonly #plain = new Lane(element('lane-plain', HTMLElement));
  readonly #details = new TokenDetails(element('plain-answer', HTMLElement));

  constructor(view: RunView) {
    this.#view = view;
  }

  /** Another problem: nothing of the last one stays. */
  clear(): void {
    this.#begin(Number(this.#lanes.dataset.count));
    this.#view.clear();
    this.#plain.start(capitalised(baselineName('autoregressive')));
    this.#plain.finish();
  }

  /** Runs the system alone. */
  answer(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    this.#begin(1, entry.replay);
    return this.#view.show(entry.system(signal), entry.problem, entry.name);
  }

  async race(entry: Entry, signal: AbortSignal): Promise<Raced> {
    this.#begin(2, entry.replay);
    const name = baselineName(entry.baseline);
    this.#plain.start(capitalised(name));
    if (entry.recorded) {
      const pair = await this.#together(entry, entry.system(signal), entry.plain(signal));
      if (!pair.run.complete || !pair.plain.complete) return this.#stopped(pair.run);
      return this.#finished([pair], entry);
    }
    say('finish-about', `Warming up: ${entry.name} runs first, then ${name}.`);
    const details = { logprobs: LOGPROBS };
    const run = await this.#view.show(entry.system(signal, details), entry.problem, entry.name, false);
    if (!run.complete) return this.#stopped(run);
    const plain = await this.#showPlain(entry.plain(signal, details));
    if (!plain.complete) return this.#stopped(run);
    const pairs: Pair[] = [];
    for (let i = 0; i < TIMED; i++) {
      const timed: Outcome[] = [];
      for (const [which, start] of [entry.system, entry.plain].entries()) {
        say('finish-about', `Timing run ${2 * i + which + 1} of ${2 * TIMED}: ${which === 0 ? entry.name : name}.`);
        const outcome = await collected(start(signal));
        if (!outcome.complete) return this.#stopped(run);
        timed.push(outcome);
      }
      const [mine, theirs] = timed as [Outcome, Outcome];
      pairs.push({ run: mine, plain: theirs });
    }
    const median = medianPair(pairs);
    say('finish-about', 'Both again, at their measured speeds.');
    const options = { slower: wantsStillness() ? 0 : 1, signal };
    await this.#together(entry, replayed(median.run.events, options), replayed(median.plain.events, options));
    if (signal.aborted) {
      const whole = { slower: 0, signal: new AbortController().signal };
      await this.#together(entry, replayed(median.run.events, whole), replayed(median.plain.events, whole));
    }
    const detailed = withProbabilities(median.run, run);
    this.#view.details.take(detailed.events);
    this.#details.take(withProbabilities(median.plain, plain).events);
    return { ...this.#finished(pairs, entry), detailed };
  }

  /** Both lanes at once, from their first tokens on. */
  async #together(entry: Entry, system: AsyncIterable<TraceEvent>, plain: AsyncIterable<TraceEvent>): Promise<Pair> {
    this.#plain.start(capitalised(baselineName(entry.baseline)));
    const shown = this.#showPlain(plain);
    const run = await this.#view.show(system, entry.problem, entry.name);
    return { run, plain: await shown };
  }

  async #showPlain(events: AsyncIterable<TraceEvent>): Promise<Outcome> {
    const seen: TraceEvent[] = [];
    this.#details.take(seen);
    try {
      for await (const event of events) {
        if (seen.push(event) === 1) this.#view.strip.start(1);
        this.#view.strip.add(1, event);
        this.#plain.add(event);
      }
    } finally {
      this.#plain.finish();
    }
    return outcomeOf(seen);
  }

  #begin(lanes: number, replay = ''): void {
    this.#lanes.dataset.count = `${lanes}`;
    say('replay', replay);
    for (const id of ['finish-factor', 'finish-about', 'finish-passes']) say(id, '');
    element('finish-facts', HTMLUListElement).replaceChildren();
  }

  #stopped(run: Outcome): Pick<Pair, 'run'> {
    for (const id of ['finish-about', 'status']) say(id, 'The race was stopped.');
    return { run };
  }

  /** A run has failed, or a load of other models has ended it. */
  ended(why: string): void {
    say('status', why);
    if (Number(this.#lanes.dataset.count) > 1) say('finish-about', why);
  }

  #finished(pairs: readonly Pair[], entry: Entry): Pair {
    const { factor, sentence, passes, facts } = finishOf(pairs, entry);
    say('finish-factor', factor);
    say('finish-passes', passes);
    say('finish-about', sentence);
    element('finish-facts', HTMLUListElement).replaceChildren(...facts.map((text) => make('li', {}, text)));
    return medianPair(pairs);
  }
}
