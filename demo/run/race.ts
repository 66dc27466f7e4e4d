// A race of two lanes on one prompt. It is fair because each run has the machine to itself: first the chosen system,
// then plain decoding, next to a replay of the system at its measured speed. Plain decoding of the same request is
// timed once a session, so that a knob can be tried again and again against it.
import type { TraceEvent } from '../../src/trace/index.ts';
import { element, make, say } from '../shared/elements.ts';
import { baselineName, finishOf, type Terms } from './finish.ts';
import { Lane } from './lane.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Problem } from './problems.ts';
import { Gate, replayed } from './replay-clock.ts';
import type { RunView } from './run-view.ts';

/** Which runs race, live or recorded. */
export interface Entry extends Terms {
  /** Name of the system's lane. */
  readonly name: string;
  readonly problem: Problem | null;
  system(signal: AbortSignal): AsyncIterable<TraceEvent>;
  plain(signal: AbortSignal): AsyncIterable<TraceEvent>;
  /** Requests with the same key have the same plain run. */
  readonly key: string;
  /** There is no baseline run: the system is the baseline itself, or the trace has none. */
  readonly alone?: boolean;
  /** Recordings: how many times slower they are shown. */
  readonly slower?: number;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export class Race {
  readonly #view: RunView;
  readonly #lanes = element('lanes', HTMLElement);
  readonly #finish = element('finish', HTMLElement);
  readonly #plain = new Lane(element('lane-plain', HTMLElement));
  readonly #plainRuns = new Map<string, Outcome>();

  constructor(view: RunView) {
    this.#view = view;
  }

  /** Models changed, so earlier plain runs no longer apply. */
  forget(): void {
    this.#plainRuns.clear();
  }

  /** Keeps a plain run that need not be made, such as a recording's. */
  keepPlain(key: string, plain: Outcome): void {
    this.#plainRuns.set(key, plain);
  }

  plainOf(key: string): Outcome | null {
    return this.#plainRuns.get(key) ?? null;
  }

  /** Runs the system alone. */
  answer(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    this.#begin(1);
    return this.#view.show(entry.system(signal), entry.problem, entry.name, () => {});
  }

  async race(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    this.#begin(2);
    const name = baselineName(entry.baseline);
    this.#plain.start(sentence(name));
    const earlier = this.#plainRuns.get(entry.key);
    if (earlier) return this.#raceAgainstReplay(earlier, entry, signal);
    say('finish-about', `${entry.name} runs first, with the machine to itself. Then ${name} runs.`);
    const run = await this.#view.show(entry.system(signal), entry.problem, entry.name, () => {});
    if (!run.complete) return this.#showStopped(run);
    say('finish-about', `Now ${name} runs live, next to a replay of ${entry.name} at its measured speed.`);
    const plain = await this.#runPlain(run, entry, signal);
    if (!plain.complete) return this.#showStopped(run);
    this.#plainRuns.set(entry.key, plain);
    this.#showFinish(run, plain, entry);
    return run;
  }

  /** The plain run was timed before: it is replayed next to the live system, both from their first tokens on. */
  async #raceAgainstReplay(earlier: Outcome, entry: Entry, signal: AbortSignal): Promise<Outcome> {
    const name = baselineName(entry.baseline);
    say('finish-about', `${entry.name} runs next to a replay of ${name} from its earlier run.`);
    const first = new Gate();
    const stop = new AbortController();
    const options = { startWith: first.opened, signal: AbortSignal.any([signal, stop.signal]) };
    const replay = { ...options, ...(entry.slower && { slower: entry.slower }) };
    const shown = this.#showPlain(replayed(earlier.events, replay));
    try {
      const run = await this.#view.show(entry.system(signal), entry.problem, entry.name, first.open);
      if (!run.complete) return this.#showStopped(run);
      await shown;
      if (signal.aborted) return this.#showStopped(run);
      this.#showFinish(run, earlier, entry);
      return run;
    } finally {
      stop.abort();
      await shown;
    }
  }

  /** Plain decoding, live, next to a replay of the system: both lanes begin with the first token. */
  async #runPlain(run: Outcome, entry: Entry, signal: AbortSignal): Promise<Outcome> {
    const first = new Gate();
    const replay = this.#replaySystem(run, entry.name, first.opened, signal);
    try {
      return await this.#showPlain(entry.plain(signal), first.open);
    } finally {
      first.open();
      await replay;
    }
  }

  async #replaySystem({ events }: Outcome, name: string, first: Promise<void>, signal: AbortSignal): Promise<void> {
    const { lane } = this.#view;
    await first;
    if (signal.aborted) return;
    lane.start(name);
    for await (const event of replayed(events, { startWith: first, signal })) lane.add(event);
    if (signal.aborted) {
      lane.start(name);
      for (const event of events) lane.add(event); // a stopped replay leaves the whole answer
    }
    lane.finish();
  }

  async #showPlain(events: AsyncIterable<TraceEvent>, onFirstToken?: () => void): Promise<Outcome> {
    const seen: TraceEvent[] = [];
    try {
      for await (const event of events) {
        if (seen.push(event) === 1) this.#view.strip.start(1);
        this.#view.strip.add(1, event);
        if (this.#plain.add(event)) onFirstToken?.();
      }
    } finally {
      this.#plain.finish();
    }
    return outcomeOf(seen);
  }

  #begin(lanes: number): void {
    this.#lanes.dataset.count = `${lanes}`;
    delete this.#finish.dataset.factor;
    for (const id of ['finish-about', 'finish-factor']) say(id, '');
    element('finish-facts', HTMLUListElement).replaceChildren();
  }

  #showStopped(run: Outcome): Outcome {
    say('finish-about', 'The race was stopped.');
    return run;
  }

  #showFinish(run: Outcome, plain: Outcome, entry: Entry): void {
    const { factor, sentence, facts } = finishOf(run, plain, entry);
    say('finish-factor', factor);
    say('finish-about', sentence);
    element('finish-facts', HTMLUListElement).replaceChildren(...facts.map((text) => make('li', {}, text)));
  }
}
